// A point in time, as a person counts it, with the exact one behind it.

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "always", style: "narrow" });
const exact = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });

export function ago(at: string, now = Date.now()): string {
  const seconds = Math.round((new Date(at).getTime() - now) / 1_000);
  const [unit, size] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? ["second", 1];
  return Math.abs(seconds) < 5 ? "now" : relative.format(Math.trunc(seconds / size), unit);
}

export function Time({ at }: { at: string | null | undefined }) {
  if (!at) return <span class="none">never</span>;
  return (
    <time dateTime={at} title={exact.format(new Date(at))}>
      {ago(at)}
    </time>
  );
}
