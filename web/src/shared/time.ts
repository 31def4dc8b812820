// Times for people.

/** Nanoseconds in the unit that fits. */
export function duration(ns: number): string {
  if (ns <= 0) return "0";
  if (ns < 1e3) return `${Math.round(ns)} ns`;
  if (ns < 1e6) return `${digits(ns / 1e3)} µs`;
  if (ns < 1e9) return `${digits(ns / 1e6)} ms`;
  if (ns < 60e9) return `${digits(ns / 1e9)} s`;
  const seconds = Math.round(ns / 1e9);
  const parts = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60), seconds % 60];
  const words = ["h", "min", "s"].map((unit, at) => `${parts[at]} ${unit}`);
  return words.filter((_, at) => (parts[at] ?? 0) > 0).join(" ");
}

function digits(n: number): string {
  return n >= 100 ? n.toFixed(0) : n >= 10 ? n.toFixed(1) : n.toFixed(2);
}
