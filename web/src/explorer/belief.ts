// Where the model may be, and why something is not allowed.

import { type Child, h } from "../shared/dom.js";
import { long } from "../shared/long.js";
import type { ExplanationView, ModelView, StateView, WalkView } from "./views.js";

/** The states of the belief; `before` marks values that have changed. */
export function belief(model: ModelView, walk: WalkView, before: WalkView | null): HTMLElement {
  const { kind, n, states } = walk.belief;
  const old = before?.belief.states.length === 1 ? before.belief.states[0] : undefined;
  const title =
    kind === "unspecified"
      ? "Everything is allowed from here"
      : n === 1
        ? "The model is here"
        : `The model may be in one of ${n.toLocaleString("en")} states`;
  return h(
    "section",
    { class: "card belief", "aria-label": "belief" },
    h("h2", null, title),
    kind === "unspecified" &&
      h("p", { class: "soft" }, "The model has no transition for the last input, so it allows everything after it."),
    states.map((state) => stateView(model, state, states.length === 1 ? old : undefined)),
    n > states.length && h("p", { class: "soft" }, `… and ${(n - states.length).toLocaleString("en")} more`),
    walk.truncated &&
      h(
        "p",
        { class: "soft" },
        "There are too many internal steps to list all states, so no message is called forbidden here.",
      ),
    walk.doubts > 0 &&
      h(
        "p",
        { class: "soft" },
        `The solver left ${walk.doubts} queries unanswered; states that may be impossible are still listed.`,
      ),
  );
}

/** The places of a state as the picture calls them: of a system those of its parts. */
export function placesOf(model: ModelView, state: StateView): string[] {
  if (state.parts.length === 0) return [model.locations[state.location]?.name ?? ""];
  return state.parts.map((part) => (part.place === "" ? part.name : `${part.name}: ${part.place}`));
}

function stateView(model: ModelView, state: StateView, before: StateView | undefined): HTMLElement {
  if (state.parts.length > 0) return partsView(state, before);
  const location = model.locations[state.location];
  const old = new Map(before?.values ?? []);
  const value = ([name, text]: [string, string]): HTMLElement => {
    const changed = old.has(name) && old.get(name) !== text;
    return h(
      "div",
      { class: changed ? "value changed" : "value", title: changed ? `was ${old.get(name)}` : null },
      h("dt", null, name),
      h("dd", text.length > 200 ? { tabindex: 0 } : null, text),
    );
  };
  return h(
    "div",
    { class: "state" },
    h(
      "div",
      { class: "place" },
      h("strong", null, location?.name ?? "?"),
      h("span", { class: "soft" }, firstLine(location?.doc ?? "")),
    ),
    state.values.length > 0 && h("dl", { class: "values" }, state.values.map(value)),
    state.path.length > 0 && condition(state.path),
  );
}

/** One pane for each part. */
function partsView(state: StateView, before: StateView | undefined): HTMLElement {
  const old = new Map((before?.parts ?? []).map((part) => [part.name, part] as const));
  const pane = (part: StateView["parts"][number]): HTMLElement => {
    const was = old.get(part.name);
    const values = new Map(was?.values ?? []);
    const moved = was !== undefined && was.place !== part.place;
    const value = ([name, text]: [string, string]): HTMLElement => {
      const changed = values.has(name) && values.get(name) !== text;
      return h(
        "div",
        { class: changed ? "value changed" : "value", title: changed ? `was ${values.get(name)}` : null },
        h("dt", null, name),
        h("dd", text.length > 200 ? { tabindex: 0 } : null, text),
      );
    };
    return h(
      "div",
      { class: moved ? "part moved" : "part" },
      h("div", { class: "place" }, h("strong", null, part.name), h("span", null, part.place)),
      part.values.length > 0 && h("dl", { class: "values" }, part.values.map(value)),
    );
  };
  return h("div", { class: "state parts" }, state.parts.map(pane), state.path.length > 0 && condition(state.path));
}

function condition(path: string[]): HTMLElement {
  return h(
    "div",
    { class: "condition" },
    h("h3", null, "path condition"),
    h("ul", null, path.map((fact) => h("li", null, h("code", null, fact)))),
  );
}

/** A step the model forbids: what came, what could have come, and what stood against it. */
export function forbidden(explanation: ExplanationView, title: string): HTMLElement {
  const allowed = explanation.allowed.map(({ label, switch: name }) =>
    h("li", null, h("code", null, label), name !== null && h("span", { class: "soft" }, ` ${name}`)),
  );
  const rows = explanation.why_not.map(({ state, switch: name, reason }) =>
    h("tr", null, h("td", null, state), h("td", null, h("code", null, name)), h("td", null, reason)),
  );
  return h(
    "section",
    { class: "card forbidden", role: "alert", "aria-label": "forbidden" },
    h("h2", null, h("span", { "aria-hidden": "true" }, "✗ "), title),
    pair("got", long(explanation.observed, "what was observed", 300)),
    pair("expected", allowed.length > 0 ? h("ul", null, allowed) : h("span", { class: "soft" }, "nothing at all")),
    rows.length > 0 &&
      h(
        "details",
        { open: rows.length <= 8 },
        h("summary", null, "why not"),
        h(
          "table",
          null,
          h(
            "thead",
            null,
            h(
              "tr",
              null,
              ["state", "transition", "reason"].map((name) => h("th", null, name)),
            ),
          ),
          h("tbody", null, rows),
        ),
      ),
  );
}

function pair(name: string, value: Child): HTMLElement {
  return h("div", { class: "pair" }, h("span", { class: "soft" }, name), h("div", null, value));
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
