// What was wrong with a run, and how to have it again: got and expected, why not, commands.

import { copyable, copyableBlock } from "../shared/copy.js";
import { type Child, fill, h } from "../shared/dom.js";
import { excerpt } from "../shared/visible.js";
import { choice, switchLink } from "./parts.js";
import type { Allowed, DocumentView, Explanation, SmallerView, StateRecord } from "./views.js";

/** Allowed messages shown at once. */
const MAX_ALLOWED = 8;

/** What was seen beside what was allowed; values that differ are marked. */
export function gotExpected(told: Explanation): HTMLElement {
  const allowed = told.allowed
    .slice(0, MAX_ALLOWED)
    .map((it) =>
      h(
        "li",
        null,
        h("code", null, excerpt(labelText(it.label), 300)),
        it.switch !== undefined && [" by ", switchLink(it.switch)],
        difference(it),
      ),
    );
  const more = told.allowed.length - allowed.length;
  return h(
    "div",
    { class: "got-expected" },
    h("div", { class: "got" }, h("h3", null, "Got"), h("code", null, excerpt(labelText(told.observed), 600))),
    h(
      "div",
      { class: "expected" },
      h("h3", null, "Expected"),
      allowed.length > 0 ? h("ul", null, allowed) : h("p", null, "nothing at all"),
      more > 0 && h("p", { class: "soft" }, `or one of ${more} more`),
    ),
  );
}

/** The text of a label for people: records have a sign for silence that only the theory knows. */
function labelText(label: string): string {
  return label === "δ" ? "silence" : label;
}

/** The fields whose values differ, each with both. */
function difference({ differences = [] }: Allowed): Child {
  const row = ({ field, got, expected }: { field: string; got: string; expected: string }): HTMLElement =>
    h(
      "span",
      { class: "difference" },
      h("b", null, field),
      ": got ",
      h("mark", { class: "bad" }, excerpt(got, 200)),
      ", expected ",
      h("mark", { class: "good" }, excerpt(expected, 200)),
    );
  return differences.length > 0 && h("div", { class: "differences" }, differences.map(row));
}

/** The states as rows, as the terminal shows them: the first in full, the others by how they differ from it. */
function compareStates(states: StateRecord[]): { location: string; facts: string }[] {
  const [first, ...others] = states;
  if (first === undefined) return [];
  const path = first.path ?? [];
  const known = [...first.values, ...path].join(", ");
  const different = (it: StateRecord): string => {
    const more = (it.path ?? []).filter((fact) => !path.includes(fact));
    const missing = path.filter((fact) => !(it.path ?? []).includes(fact)).map((fact) => `without ${fact}`);
    return [...it.values.filter((value) => !first.values.includes(value)), ...more, ...missing].join(", ");
  };
  if (others.length > 0 && others.every((it) => different(it) === ""))
    return [{ location: states.map((it) => it.location).join(" or "), facts: known }];
  // In a system of parts, only the parts that are elsewhere.
  const isOfParts = [first, ...others].every((it) => it.location.split(", ").every((part) => part.includes(": ")));
  const parts = first.location.split(", ");
  const elsewhere = (location: string): string =>
    isOfParts ? location.split(", ").filter((part) => !parts.includes(part)).join(", ") : location;
  const row = (it: StateRecord): { location: string; facts: string } => ({
    location: it.location === first.location ? "or" : `or ${elsewhere(it.location)}`,
    facts: different(it),
  });
  return [{ location: first.location, facts: known }, ...others.map(row)];
}

/** Where the model was, and why each transition was not possible. */
export function reasons(told: Explanation): Child {
  const state = (at: number): string => told.states[at]?.location ?? "";
  const compared = compareStates(told.states);
  const states = compared.map(({ location, facts }) =>
    h("tr", null, h("td", null, h("b", null, location)), h("td", null, h("code", null, excerpt(facts, 600) || "–"))),
  );
  const why = told.why_not.map((it) =>
    h(
      "tr",
      null,
      h("td", null, switchLink(it.switch)),
      h("td", null, state(it.state)),
      h("td", null, h("code", null, excerpt(it.reason, 600))),
    ),
  );
  const more = told.n_states - told.states.length;
  return h(
    "div",
    { class: "pair" },
    states.length > 0 &&
      h(
        "div",
        null,
        h("h3", null, "The model could be in"),
        h("table", { class: "states" }, h("tr", null, h("th", null, "state"), h("th", null, "values")), states),
        compared.length > 1 && h("p", { class: "soft" }, "Further states are shown by how they differ from the first."),
        more > 0 && h("p", { class: "soft" }, `or one of ${more} more`),
      ),
    why.length > 0 &&
      h(
        "div",
        null,
        h("h3", null, "Why not"),
        h(
          "table",
          { class: "why-not" },
          h("tr", null, h("th", null, "transition"), h("th", null, "state"), h("th", null, "reason")),
          why,
        ),
      ),
  );
}

/** The command that does a run again, the smallest one if it was shrunk; empty if the report does not know it. */
function replayCommand(document: DocumentView, run: number, isShrunk: boolean): string {
  const sut = document.campaign?.figures.campaign?.sut;
  if (document.record === "" || sut === undefined) return "";
  return `ioxide replay ${word(document.record)} --number ${run}${isShrunk ? " --smallest" : ""} --sut ${word(sut)}`;
}

/** A word as a shell reads it. */
function word(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`;
}

/** How to have a failure again: with ioxide, and with programs that need no ioxide. */
export function reproduce(document: DocumentView, run: number, smaller: SmallerView | undefined): Child {
  const command = replayCommand(document, run, smaller !== undefined);
  const scripts = smaller?.scripts ?? [];
  if (command === "" && scripts.length === 0 && !smaller?.no_script) return null;
  const forms = [...(command === "" ? [] : [{ language: "ioxide", text: command }]), ...scripts];
  const box = h("div", null);
  const show = (language: string): void => {
    const text = forms.find((it) => it.language === language)?.text ?? "";
    fill(
      box,
      language === "ioxide"
        ? copyable(text, "the command that repeats this run")
        : copyableBlock(text, `the ${language} program that repeats the run`),
    );
  };
  const first = scripts[0]?.language ?? "ioxide";
  show(first);
  return h(
    "div",
    { class: "reproduce" },
    h("h3", null, "Reproduce it"),
    forms.length > 1 &&
      choice(
        "how to reproduce the failure",
        forms.map(({ language }) => ({ key: language, text: language === "ioxide" ? "with ioxide" : language })),
        first,
        show,
      ),
    box,
    smaller?.no_script && h("p", { class: "soft no-script" }, `No program without ioxide: ${smaller.no_script}`),
    smaller !== undefined &&
      smaller.references.length > 0 &&
      h(
        "ul",
        { class: "soft references" },
        smaller.references.map((it) => h("li", null, excerpt(it, 200))),
      ),
  );
}
