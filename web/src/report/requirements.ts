// Requirements against what was tested: which switches stand for each, and what became of them.

import { type Child, h } from "../shared/dom.js";
import { badge } from "../shared/verdict.js";
import { STATUS, type Status, status, takenBy } from "./coverage.js";
import type { DocumentView, SwitchShown } from "./views.js";
import { card, plural, switchLink } from "./parts.js";

export function requirementsPage(document: DocumentView): Child {
  const rows = requirements(document);
  if (rows.length === 0)
    return h(
      "p",
      null,
      "The model names no requirements. Write ",
      h("code", null, '@req("R1")'),
      " before a transition.",
    );
  const head = ["requirement", "verdict", "transitions", "runs"].map((text) => h("th", null, text));
  const untraced = (document.model?.switches ?? []).filter((it) => it.reqs.length === 0);
  return [
    card(
      `${plural(rows.length, "requirement")}`,
      h(
        "table",
        { class: "requirements" },
        h("tr", null, head),
        rows.map((it) => row(document, it)),
      ),
    ),
    untraced.length > 0 &&
      card(
        `${plural(untraced.length, "transition")} without a requirement`,
        h("p", { class: "untraced" }, untraced.map((it): Child => [switchLink(it.label), " "])),
      ),
  ];
}

interface Requirement {
  name: string;
  switches: SwitchShown[];
}

/** The requirements of the model, in the order they are met. */
export function requirements({ model }: DocumentView): Requirement[] {
  const rows = new Map<string, SwitchShown[]>();
  for (const it of model?.switches ?? []) {
    for (const name of it.reqs) rows.set(name, [...(rows.get(name) ?? []), it]);
  }
  return [...rows].map(([name, switches]) => ({ name, switches }));
}

function row(document: DocumentView, { name, switches }: Requirement): HTMLElement {
  const states = switches.map((it) => status(document, it));
  const taken = switches.map((it) => takenBy(document, it.label));
  const sum = (of: "passing" | "failing"): number => Math.max(0, ...taken.map((it) => it?.[of].n ?? 0));
  const one = (it: SwitchShown, at: number): Child => {
    const state: Status = states[at] ?? "unknown";
    return [
      h("span", { class: `dot status ${state}`, title: STATUS[state].word }, STATUS[state].sign),
      switchLink(it.label),
      " ",
    ];
  };
  return h(
    "tr",
    null,
    h("td", null, h("b", null, name)),
    h("td", null, verdict(document, switches, states)),
    h("td", null, switches.map(one)),
    h("td", null, `${sum("passing")} passing, ${sum("failing")} failing`),
  );
}

/** A requirement failed if a switch of it is what the system should have done, or stood against what it did. */
function verdict(document: DocumentView, switches: SwitchShown[], states: Status[]): HTMLElement {
  const names = new Set(switches.map((it) => it.label));
  const failed = document.campaign?.figures.failures.some(
    ({ explanation }) =>
      explanation?.allowed.some((it) => it.switch !== undefined && names.has(it.switch)) === true ||
      explanation?.why_not.some((it) => names.has(it.switch)) === true,
  );
  if (failed === true) return badge("fail", "in a failure");
  const seen = states.filter((it) => it === "taken" || it === "failing").length;
  if (seen === states.length) return badge("pass", "exercised");
  if (seen > 0) return badge("inconclusive", "in part");
  return states.every((it) => it === "unreachable")
    ? badge("error", "unreachable")
    : badge("inconclusive", "not tested");
}
