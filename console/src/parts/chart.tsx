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
}: {
  label: string;
  xs: readonly number[];
  lines: readonly Line[];
  /** The values on the x axis are seconds since 1970. */
  overTime?: boolean;
  filled?: boolean;
  height?: number;
}) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const drawn = theme();
  const names = lines.map((line) => line.label).join("\n");
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const ink = resolved(element, "--soft");
    const grid = resolved(element, "--edge");
    const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } };
    const chart = new uPlot(
      {
        width: element.clientWidth,
        height,
        legend: { show: false },
        cursor: { show: false },
        scales: { x: { time: overTime }, y: { range: (_, least, most) => [Math.min(0, least ?? 0), Math.max(1, most ?? 1)] } },
        axes: [axis, { ...axis, size: 48 }],
        series: [
          {},
          ...lines.map((line) => {
            const colour = resolved(element, line.colour);
            return { label: line.label, stroke: colour, width: 2, points: { show: false }, ...(filled ? { fill: colour.replace("rgb(", "rgba(").replace(")", ", 0.2)") } : {}) };
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

/** A colour of the style sheet as it is in the theme of now: a canvas knows neither variables nor two themes. */
function resolved(element: HTMLElement, name: string): string {
  element.style.color = `var(${name})`;
  const { color } = getComputedStyle(element);
  element.style.color = "";
  return color;
}

function highest(line: Line): number {
  return line.values.reduce<number>((most, value) => Math.max(most, value ?? 0), 0);
}
