// Which values were sent, field by field.

import { type Bar, bars } from "../shared/bars.js";
import { type Child, h, s } from "../shared/dom.js";
import { excerpt } from "../shared/visible.js";
import type { DocumentView, SentView } from "./views.js";
import { card, plural } from "./parts.js";

/** Bars of one field. */
const MOST = 24;

export function valuesPage({ campaign }: DocumentView): Child {
  if (campaign === null || campaign.values.length === 0) return h("p", null, "No input with a field was sent.");
  return h("div", { class: "values-page" }, campaign.values.map(field));
}

function field(told: SentView): HTMLElement {
  const sent = told.values.reduce((sum, [, n]) => sum + n, told.beyond);
  const distinct = `${plural(told.values.length, "distinct value")}${told.beyond > 0 ? " and more" : ""}`;
  const numbers = told.are_numbers && told.values.length > 1;
  return card(
    `${told.message}.${told.field}`,
    h("p", { class: "soft" }, `sent ${plural(sent, "time")}, ${distinct}`),
    shape(told),
    numbers && told.values.length > 12 ? histogram(told) : bars(named(told), `values of ${told.message}.${told.field}`),
  );
}

/** How many items, or which case: what lists and cases have in common says more than each of them. */
function shape({ shape: told, message, field: name }: SentView): Child {
  if (told === null) return null;
  const [what, counts] = "cases" in told ? ["cases", told.cases] as const : ["lengths", told.lengths] as const;
  const shown = counts.slice(0, MOST).map(([value, n]) => ({ name: what === "cases" ? value : items(value), n }));
  const rest = counts.slice(MOST).reduce((sum, [, n]) => sum + n, 0);
  const all = rest > 0 ? [...shown, { name: "others", n: rest }] : shown;
  return h("div", { class: "shape" }, bars(all, `${what} of ${message}.${name}`), h("p", { class: "soft" }, "values"));
}

function items(length: string): string {
  return length === "1" ? "1 item" : `${length} items`;
}

function named({ values, beyond }: SentView): Bar[] {
  const shown = values.slice(0, MOST).map(([value, n]) => ({ name: excerpt(value, 60), n }));
  const rest = values.slice(MOST).reduce((sum, [, n]) => sum + n, beyond);
  return rest > 0 ? [...shown, { name: "others", n: rest }] : shown;
}

/** Numbers in classes of one width; where a few are far from the rest, the width grows with the number. */
function histogram({ values, message, field: name }: SentView): Child {
  const points = values.map(([value, n]) => [Number(value), n] as const);
  const [least, most] = [points[0]?.[0] ?? 0, points[points.length - 1]?.[0] ?? 0];
  const even = binned(points, (value) => value, least, most);
  const skewed = even.filter((n) => n > 0).length < MOST / 4 && most - least > 1000;
  const counts = skewed ? binned(points, scaled, scaled(least), scaled(most)) : even;
  const [from, to] = skewed ? [scaled(least), scaled(most)] : [least, most];
  const value = (part: number): number => (skewed ? unscaled(from + (to - from) * part) : from + (to - from) * part);
  const top = Math.max(...counts, 1);
  const bar = (n: number, at: number): SVGElement => {
    const height = n === 0 ? 0 : Math.max(2, (96 * n) / top);
    const range = `${round(value(at / MOST))} to ${round(value((at + 1) / MOST))}`;
    return s("rect", { x: at * 20 + 1, y: 100 - height, width: 18, height, rx: 2 }, s("title", null, `${range}: ${n}`));
  };
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((part) => h("span", null, round(value(part))));
  const label = `histogram of ${message}.${name}, ${round(least)} to ${round(most)}`;
  return h(
    "div",
    { class: "histogram" },
    s(
      "svg",
      { viewBox: `0 0 ${MOST * 20} 100`, preserveAspectRatio: "none", role: "img", "aria-label": label },
      counts.map(bar),
    ),
    h("div", { class: "axis" }, ticks),
    skewed && h("small", null, "logarithmic"),
  );
}

function binned(
  points: (readonly [number, number])[],
  scale: (n: number) => number,
  from: number,
  to: number,
): number[] {
  const counts = new Array<number>(MOST).fill(0);
  for (const [value, n] of points) {
    const part = to > from ? (scale(value) - from) / (to - from) : 0;
    const at = Math.min(MOST - 1, Math.max(0, Math.floor(part * MOST)));
    counts[at] = (counts[at] ?? 0) + n;
  }
  return counts;
}

/** The logarithm, of both signs. */
function scaled(n: number): number {
  return Math.sign(n) * Math.log10(1 + Math.abs(n));
}

function unscaled(n: number): number {
  return Math.sign(n) * (10 ** Math.abs(n) - 1);
}

function round(n: number): string {
  if (Math.abs(n) >= 1e6) return n.toExponential(1);
  return Number.isInteger(n) || Math.abs(n) >= 100 ? Math.round(n).toLocaleString("en") : n.toPrecision(2);
}
