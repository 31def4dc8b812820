// One run: its chart, what was wrong with it, and any of its steps in detail.

import { type Child, fill, h } from "../shared/dom.js";
import { long } from "../shared/long.js";
import { Sequence, type Step } from "../shared/sequence.js";
import { duration } from "../shared/time.js";
import { badge } from "../shared/verdict.js";
import { excerpt } from "../shared/visible.js";
import { bytes } from "./bytes.js";
import { Tape } from "./data.js";
import type { DocumentView, Explanation, RunRow, SmallerView, TapeView, TroubleView } from "./views.js";
import { gotExpected, replay } from "./overview.js";
import { choice, facts, link, plural, switchLink } from "./parts.js";

/** Expected messages drawn under a forbidden step. */
const MAX_EXPECTED = 4;

export function runPage(document: DocumentView, number: number, step: number | undefined): Child {
  const { campaign } = document;
  if (campaign === null) return null;
  const row = campaign.runs.listed.find(([it]) => it === number);
  const tape = own(campaign.runs.tapes, number);
  const details = own(campaign.runs.details, number);
  const smaller = campaign.smaller.find(([run]) => run === number)?.[1];
  if (row === undefined && tape === undefined) return h("p", null, `There is no run ${number} in this report.`);
  return h(
    "div",
    { class: "run-page" },
    header(document, number, row),
    details && trouble(document, number, details, row),
    charts(document, tape, smaller, details, row, step),
  );
}

function own<T>(table: Record<string, T>, number: number): T | undefined {
  return Object.hasOwn(table, String(number)) ? table[String(number)] : undefined;
}

function header(document: DocumentView, number: number, row: RunRow | undefined): HTMLElement {
  const runs = document.campaign?.runs.listed ?? [];
  const at = runs.findIndex(([it]) => it === number);
  const near = (by: number, text: string): Child => {
    const other = runs[at + by];
    return at >= 0 && other !== undefined && link(text, "run", other[0]);
  };
  const told = row === undefined ? ["not told to its end"] : [plural(row[2], "step"), row[3] > 0 ? duration(row[3]) : "", `seed ${row[8]}`, row[4]];
  return h(
    "div",
    { class: "run-header" },
    h("h1", null, `Run ${number}`),
    row !== undefined && badge(row[1]),
    h("span", { class: "soft" }, told.filter(Boolean).map((it) => excerpt(it, 160)).join(" · ")),
    h("span", { class: "near" }, near(-1, "← before"), " ", near(1, "next →")),
  );
}

/** What was wrong: seen, allowed, where the specification was, why not, how to have it again. */
function trouble(document: DocumentView, number: number, told: TroubleView, row: RunRow | undefined): HTMLElement {
  const kind = row?.[6] ?? null;
  const failure = kind === null ? undefined : document.campaign?.figures.failures[kind];
  const again = failure?.first === number && failure.replayed;
  return h(
    "section",
    { class: row?.[1] === "error" ? "card trouble" : "card failure", "aria-label": "what was wrong" },
    h("h2", null, excerpt(told.reason, 400)),
    told.explanation && gotExpected(told.explanation),
    told.explanation && reasons(told.explanation),
    told.finding && finding(told.finding),
    again && h("p", { class: "soft" }, `Done again, it failed ${again.reproduced} of ${again.of} times.`),
    told.last_words !== "" && [h("h3", null, "The system's last words"), long(told.last_words, "last words of the system", 2000)],
    failure !== undefined && failure.first !== number && h("p", null, "Of the same kind as ", link(`run ${failure.first}`, "run", failure.first), ", which was looked into."),
    replay(document, number),
  );
}

/** The end of a timed run in the words of its method. */
function finding(told: NonNullable<TroubleView["finding"]>): HTMLElement {
  return facts([
    ["finding", h("b", null, told.word, told.rule ? ` (${told.rule})` : "")],
    ["in", told.state],
    ["event", told.event],
    ["because", told.because ? h("code", null, told.because) : null],
  ]);
}

function reasons(told: Explanation): Child {
  const state = (at: number): string => told.states[at]?.location ?? "";
  const states = told.states.map((it) =>
    h("tr", null, h("td", null, h("b", null, it.location)), h("td", null, h("code", null, excerpt([...it.values, ...(it.path ?? [])].join(", "), 600) || "–"))),
  );
  const why = told.why_not.map((it) =>
    h("tr", null, h("td", null, switchLink(it.switch)), h("td", null, state(it.state)), h("td", null, h("code", null, excerpt(it.reason, 600)))),
  );
  const more = told.n_states - told.states.length;
  return h(
    "div",
    { class: "pair" },
    states.length > 0 &&
      h("div", null, h("h3", null, "The model could be in"), h("table", { class: "states" }, h("tr", null, h("th", null, "location"), h("th", null, "values")), states), more > 0 && h("p", { class: "soft" }, `or one of ${more} more`)),
    why.length > 0 &&
      h("div", null, h("h3", null, "Why not"), h("table", { class: "why-not" }, h("tr", null, h("th", null, "switch"), h("th", null, "from"), h("th", null, "what stood against it")), why)),
  );
}

/** The chart, before and after the run was made smaller. */
function charts(
  document: DocumentView,
  tape: TapeView | undefined,
  smaller: SmallerView | undefined,
  details: TroubleView | undefined,
  row: RunRow | undefined,
  step: number | undefined,
): HTMLElement {
  const bad = row?.[1] === "fail";
  const box = h("div", { class: "chart-box" });
  const found = (): void => {
    if (tape !== undefined) fill(box, chart(document, new Tape(tape), bad ? (details?.forbidden ?? undefined) : null, details?.explanation ?? null, step));
    else fill(box, h("p", { class: "soft" }, "The steps of this run are in the record only."));
  };
  const small = (): void => {
    if (smaller !== undefined) fill(box, chart(document, new Tape(smaller.tape), smaller.forbidden, null, undefined));
  };
  found();
  const chips =
    smaller !== undefined &&
    h(
      "div",
      { class: "toolbar" },
      choice(
        "which run",
        [
          { key: "found", text: `as found: ${plural(smaller.from, "step")}` },
          { key: "small", text: `${smaller.minimal ? "smallest" : "smaller"}: ${plural(smaller.tape.before + smaller.tape.label.length, "step")}` },
        ],
        "found",
        (key) => (key === "found" ? found() : small()),
      ),
      h("span", { class: "soft" }, `${plural(smaller.attempts, "run")} tried; it fails ${smaller.reproduced} of ${smaller.of} times`),
    );
  return h("div", { class: "charts" }, chips, box);
}

/** The chart of a run; `forbidden` is the number of its forbidden step, the last one if undefined, none if null. */
function chart(document: DocumentView, tape: Tape, forbidden: number | null | undefined, explanation: Explanation | null, step: number | undefined): HTMLElement {
  const bad = forbidden === null ? -1 : (forbidden ?? tape.before + tape.count) - 1 - tape.before;
  const detail = h("aside", { class: "card step-detail", "aria-live": "polite", "aria-label": "the step" });
  const allowed = bad >= 0 ? (explanation?.allowed ?? []).slice(0, MAX_EXPECTED) : [];
  const lanes = tape.lanes();
  const expected = (at: number): Step => {
    const text = allowed[at]?.label ?? "";
    const gate = /^[!?]?([^\s(]+)/.exec(text)?.[1] ?? "";
    const part = partOf(allowed[at]?.switch ?? "");
    const lane = tape.parts === null ? gate : part;
    const known = lanes.includes(lane);
    return { kind: known ? "output" : "quiescence", gate: known ? gate : "", lane, text, class: "expected", note: "expected", mark: "" };
  };
  const step_at = (at: number): Step => {
    if (at >= tape.count) return { ...expected(at - tape.count), time: tape.step(tape.count - 1).time ?? 0 };
    const it = { ...tape.step(at), mark: (tape.before + at + 1).toLocaleString("en") };
    return at === bad ? { ...it, class: "bad", note: "got" } : it;
  };
  const sequence = new Sequence({
    label: "steps of the run",
    count: tape.count,
    tail: allowed.length,
    step: step_at,
    lanes,
    timed: tape.timed,
    onSelect: (at) => fill(detail, at < tape.count ? stepDetail(document, tape, at) : h("p", null, `What the model allowed in the place of step ${tape.before + bad + 1}.`)),
  });
  const first = step === undefined ? Math.max(0, bad) : step - 1 - tape.before;
  requestAnimationFrame(() => sequence.list.select(Math.max(0, Math.min(first, tape.count - 1))));
  const rows = Math.min(14, tape.count + allowed.length);
  const box = h("div", { class: "card sequence-card" }, tape.before > 0 && h("p", { class: "soft" }, `${plural(tape.before, "step")} before these are in the record only.`), sequence.element);
  box.style.height = `${Math.max(280, 30 * rows + 130)}px`;
  return h("div", { class: "chart" }, box, detail);
}

/** The part that takes a switch of a system first. */
function partOf(label: string): string {
  const first = label.split("+")[0] ?? "";
  return first.slice(0, Math.max(0, first.lastIndexOf(".")));
}

function stepDetail(document: DocumentView, tape: Tape, at: number): Child {
  const [, gate, text, args, of, raw] = tape.label(at);
  const step = tape.step(at);
  const switches = tape.switches(at);
  const known = new Set(document.model?.switches.map((it) => it.label));
  const belief = tape.belief(at);
  const wire = gate === "" ? null : JSON.stringify({ label: gate, args: args ?? {} });
  return [
    h("h2", null, `Step ${(tape.before + at + 1).toLocaleString("en")}`),
    long(text, "the label"),
    of !== null && h("p", { class: "soft" }, `cut: it has ${of.toLocaleString("en")} characters`),
    facts([
      ["who", { input: "the tester, an input", output: "the system, an output", quiescence: "nobody: silence", delay: "nobody: time passed", observed: "somebody else, an input the tester saw", breakdown: "the system: it broke down" }[step.kind]],
      ["time", tape.timed ? duration(step.time ?? 0) : null],
      ["explained by", switches.length > 0 ? switches.map((it) => [known.has(it) ? switchLink(it) : it, " "]) : null],
      ["then the model is in", belief === null ? null : plural(belief, "state")],
    ]),
    wire !== null && [h("h3", null, "Message"), long(wire, "the message as JSON")],
    raw !== null && [h("h3", null, "On the wire"), long(raw, "the message on the wire")],
    wire !== null && bytes(raw ?? text),
  ];
}
