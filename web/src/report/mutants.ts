// Mutants: the score, who kills whom, and the traces that survivors need.

import { type Child, fill, h, s } from "../shared/dom.js";
import { VirtualList } from "../shared/list.js";
import { long } from "../shared/long.js";
import { excerpt } from "../shared/visible.js";
import type { DocumentView, MutantRow, MutationPage } from "./views.js";
import { card, choice, plural, stacked } from "./parts.js";

const SIGNS: Record<MutantRow["outcome"], { sign: string; word: string; mark: string }> = {
  survived: { sign: "✗", word: "survived", mark: "fail" },
  unknown: { sign: "?", word: "unknown", mark: "inconclusive" },
  killed: { sign: "✓", word: "killed", mark: "pass" },
  equivalent: { sign: "=", word: "equivalent", mark: "unreachable" },
};
const OUTCOMES = Object.keys(SIGNS) as MutantRow["outcome"][];

export function mutantsPage({ mutation }: DocumentView): Child {
  if (mutation === null) return null;
  return h("div", { class: "mutants-page" }, score(mutation), mutants(mutation), matrix(mutation), operators(mutation));
}

function score(mutation: MutationPage): HTMLElement {
  const count = (word: MutantRow["outcome"]): number =>
    mutation.mutants.filter(({ outcome }) => outcome === word).length;
  const [killed, survived] = [count("killed"), count("survived")];
  const share = killed + survived === 0 ? 100 : (100 * killed) / (killed + survived);
  const by =
    mutation.suite === "" ? `a suite of ${plural(mutation.tests.length, "test")} made from them` : mutation.suite;
  return h(
    "section",
    { class: `verdict ${survived === 0 ? "pass" : "fail"}`, "aria-label": "score" },
    h("span", { class: "sign" }, `${share.toFixed(share === 100 ? 0 : 1)} %`),
    h(
      "div",
      null,
      h("h1", null, `${killed} of ${killed + survived} killable mutants killed`),
      h("p", null, `Mutants of ${mutation.model}, by ${by}.`),
      stacked(OUTCOMES.map((it) => ({ ...SIGNS[it], n: count(it) })), "mutants"),
    ),
  );
}

/** The mutants, survivors first, and one of them in detail. */
function mutants(mutation: MutationPage): HTMLElement {
  const all = mutation.mutants.map((_, at) => at).sort((a, b) => rank(mutation, a) - rank(mutation, b) || a - b);
  const killers = mutation.mutants.map((): number[] => []);
  mutation.tests.forEach(({ kills }, test) => kills.forEach((at) => killers[at]?.push(test + 1)));
  const detail = h("div", {
    class: "card detail",
    "aria-live": "polite",
    role: "region",
    "aria-label": "the mutant",
    tabindex: 0,
  });
  let shown = all;
  const list = new VirtualList({
    label: "mutants",
    rowHeight: 32,
    count: () => shown.length,
    row: (at) => row(mutation.mutants[shown[at] ?? 0] as MutantRow),
    onSelect: (at) => fill(detail, told(mutation.mutants[shown[at] ?? 0] as MutantRow, killers[shown[at] ?? 0] ?? [])),
  });
  const present = OUTCOMES.filter((it) => mutation.mutants.some(({ outcome }) => outcome === it));
  const chips = choice<MutantRow["outcome"] | "all">(
    "which mutants",
    [
      { key: "all", text: `all ${all.length}` },
      ...present.map((key) => ({ key, text: `${SIGNS[key].sign} ${SIGNS[key].word}` })),
    ],
    "all",
    (key) => {
      shown = all.filter((at) => key === "all" || mutation.mutants[at]?.outcome === key);
      list.refresh();
    },
  );
  requestAnimationFrame(() => list.select(0));
  return h("div", { class: "master" }, h("div", { class: "card list-card" }, chips, list.element), detail);
}

function rank({ mutants: list }: MutationPage, at: number): number {
  return OUTCOMES.indexOf(list[at]?.outcome ?? "killed");
}

function row({ id, outcome, operators: by }: MutantRow): HTMLElement {
  const { sign, word, mark } = SIGNS[outcome];
  return h(
    "div",
    null,
    h("span", { class: `dot ${mark}`, title: word }, sign, h("span", { class: "sr" }, word)),
    h("b", null, excerpt(id, 60)),
    h("span", { class: "soft" }, by),
  );
}

function told(it: MutantRow, killers: number[]): Child {
  const line = (text: string): HTMLElement =>
    h("span", { class: text.startsWith("  -") ? "gone" : text.startsWith("  +") ? "new" : "" }, `${text}\n`);
  const needs = it.outcome === "survived" ? "A trace to add to the suite" : "A trace that detects it";
  return [
    h("h2", null, it.id),
    h("p", null, `${SIGNS[it.outcome].word}${it.line > 0 ? `, line ${it.line}` : ""}, by ${it.operators}`),
    it.reason !== "" && h("p", null, it.reason),
    h("pre", { class: "long diff" }, it.diff.split("\n").filter(Boolean).map(line)),
    it.witness.length > 0 && [h("h3", null, needs), long(it.witness.join("\n"), needs, 4000)],
    killers.length > 0 &&
      h(
        "p",
        { class: "soft" },
        `killed by ${killers.length === 1 ? "test" : "tests"} ${killers.slice(0, 40).join(", ")}`,
        killers.length > 40 && " and more",
      ),
  ];
}

/** A line per test, a column per mutant that was killed or survived. */
function matrix(mutation: MutationPage): Child {
  if (mutation.tests.length < 2) return null;
  const column = new Map<number, number>();
  mutation.mutants.forEach(({ outcome }, at) => {
    if (outcome === "killed" || outcome === "survived") column.set(at, column.size);
  });
  const width = Math.max(1, column.size);
  const times = new Map<number, number>();
  for (const { kills } of mutation.tests) for (const at of kills) times.set(at, (times.get(at) ?? 0) + 1);
  const list = new VirtualList({
    label: "tests",
    rowHeight: 26,
    count: () => mutation.tests.length,
    row: (at) => {
      const test = mutation.tests[at] as MutationPage["tests"][number];
      const marks = (alone: boolean): string =>
        test.kills
          .filter((it) => (times.get(it) === 1) === alone)
          .map((it) => `M${column.get(it) ?? 0} 0h1v10h-1z`)
          .join("");
      const alone = test.kills.filter((it) => times.get(it) === 1).length;
      return h(
        "div",
        { class: "matrix-row", title: test.steps.slice(0, 60).join(" ") },
        h("span", { class: "n soft" }, at + 1),
        s(
          "svg",
          {
            viewBox: `0 0 ${width} 10`,
            preserveAspectRatio: "none",
            role: "img",
            "aria-label": `kills ${test.kills.length}`,
          },
          s("path", { class: "kills", d: marks(false) }),
          s("path", { class: "alone", d: marks(true) }),
        ),
        h("span", { class: "n" }, `${test.kills.length}`),
        h("span", { class: "n soft" }, alone > 0 ? `${alone} alone` : ""),
      );
    },
  });
  const box = h("div", { class: "matrix" }, list.element);
  box.style.height = `${Math.min(420, mutation.tests.length * 26 + 4)}px`;
  return card(
    "Kill matrix",
    h(
      "p",
      { class: "soft" },
      "A line is a test, a column a mutant; dark marks are mutants that no other test kills.",
    ),
    box,
  );
}

function operators(mutation: MutationPage): HTMLElement {
  const rows = new Map<string, Map<string, number>>();
  for (const it of mutation.mutants) {
    const counts = rows.get(it.operators) ?? new Map<string, number>();
    counts.set(it.outcome, (counts.get(it.outcome) ?? 0) + 1);
    rows.set(it.operators, counts);
  }
  const words = OUTCOMES.filter((word) => [...rows.values()].some((counts) => counts.has(word)));
  const line = ([name, counts]: [string, Map<string, number>]): HTMLElement =>
    h("tr", null, h("td", null, name), words.map((word) => h("td", { class: "number" }, counts.get(word) ?? 0)));
  const sorted = [...rows].sort(([a], [b]) => (a < b ? -1 : 1));
  return card(
    "By operator",
    h(
      "table",
      null,
      h(
        "tr",
        null,
        h("th", null, "operator"),
        words.map((word) => h("th", { class: "number" }, word)),
      ),
      sorted.map(line),
    ),
  );
}
