// A line chart over time or over numbers, with uPlot. The figures stand below it as text for those who do not see it.

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

import { theme } from "../theme.js";

export interface Line {
  label: string;
  values: readonly (number | null)[];
  /** A colour of the style sheet, such as `--first`. */
  colour: string;
}

export function Chart({
  label,
  xs,
  lines,
  overTime = true,
  filled = false,
  height = 120,
  marks = [],
}: {
  label: string;
  xs: readonly number[];
  lines: readonly Line[];
  /** The values on the x axis are seconds since 1970. */
  overTime?: boolean;
  filled?: boolean;
  height?: number;
  /** Places on the x axis with a dashed line. */
  marks?: readonly number[];
}) {
  const place = useRef<HTMLDivElement>(null);
  const marked = useRef(marks);
  marked.current = marks;
  const plot = useRef<uPlot>(undefined);
  const drawn = theme();
  const names = lines.map((line) => line.label).join("\n");
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const colours = getComputedStyle(element);
    const ink = colours.getPropertyValue("--soft").trim();
    const grid = colours.getPropertyValue("--edge").trim();
    const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } };
    const chart = new uPlot(
      {
        width: element.clientWidth,
        height,
        hooks: { draw: [(drawing) => drawMarks(drawing, marked.current, colours.getPropertyValue("--bad").trim())] },
        legend: { show: false },
        cursor: { show: false },
        scales: { x: { time: overTime }, y: { range: (_, least, most) => [Math.min(0, least ?? 0), Math.max(1, most ?? 1)] } },
        axes: [axis, { ...axis, size: 48 }],
        series: [
          {},
          ...lines.map((line) => {
            const colour = colours.getPropertyValue(line.colour).trim();
            return { label: line.label, stroke: colour, width: 2, points: { show: false }, ...(filled ? { fill: `${colour}33` } : {}) };
          }),
        ],
      },
      [[], ...lines.map(() => [])],
      element,
    );
    plot.current = chart;
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
  }, [names, overTime, filled, height, drawn]);
  useEffect(() => {
    plot.current?.setData([[...xs], ...lines.map((line) => [...line.values])] as uPlot.AlignedData);
  });
  return (
    <figure class="chart">
      <figcaption>
        {label}
        {lines.length > 1 && (
          <ul class="legend">
            {lines.map((line) => (
              <li key={line.label}>
                <span class={`swatch ${line.colour.slice(2)}`} aria-hidden="true" />
                {line.label}
              </li>
            ))}
          </ul>
        )}
        <span class="unseen">
          {lines.map((line) => `${line.label}: now ${line.values.at(-1) ?? "nothing"}, at most ${highest(line)}.`).join(" ")}
        </span>
      </figcaption>
      <div ref={place} class="plot" aria-hidden="true" />
    </figure>
  );
}

function drawMarks(chart: uPlot, marks: readonly number[], colour: string): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.setLineDash([6, 5]);
  ctx.beginPath();
  for (const mark of marks) {
    const x = chart.valToPos(mark, "x", true);
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
  }
  ctx.stroke();
  ctx.restore();
}

function highest(line: Line): number {
  return line.values.reduce<number>((most, value) => Math.max(most, value ?? 0), 0);
}
