// One run: its chart, what was wrong with it, and any of its steps in detail.

import { type Child, fill, h } from "../shared/dom.js";
import { long } from "../shared/long.js";
import { duration } from "../shared/time.js";
import { badge } from "../shared/verdict.js";
import { excerpt } from "../shared/visible.js";
import { chart } from "./chart.js";
import { Tape } from "./data.js";
import { gotExpected, reasons, reproduce } from "./failure.js";
import { choice, facts, link, plural } from "./parts.js";
import type { DocumentView, RunRow, SmallerView, TapeView, TroubleView } from "./views.js";

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
    details && trouble(document, number, details, row, smaller),
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
  const told =
    row === undefined
      ? ["not ended"]
      : [plural(row[2], "step"), row[3] > 0 ? duration(row[3]) : "", `seed ${row[8]}`, row[4]];
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
function trouble(
  document: DocumentView,
  number: number,
  told: TroubleView,
  row: RunRow | undefined,
  smaller: SmallerView | undefined,
): HTMLElement {
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
    again && h("p", { class: "soft" }, `Repeated, it failed ${again.reproduced} of ${again.of} times.`),
    told.last_words !== "" && [
      h("h3", null, "The last output of the program"),
      long(told.last_words, "last output of the program", 2000),
    ],
    failure !== undefined &&
      failure.first !== number &&
      h(
        "p",
        null,
        "Of the same kind as ",
        link(`run ${failure.first}`, "run", failure.first),
        ", which ioxide repeated and shrank.",
      ),
    reproduce(document, number, smaller),
  );
}

/** The verdicts of timed testing in plain words. */
const MEANINGS: Record<string, string> = {
  FAIL_out: "a forbidden message",
  FAIL_dur: "a forbidden silence",
  INC_out: "another allowed message",
  INC_dur: "an allowed silence",
  INC_ucIn_spec: "an input from another sender",
  INC_ucIn_uspec: "an input from another sender",
  INC_off_path: "the rest of the path became impossible",
};

/** The end of a timed run in the words of its method. */
function finding(told: NonNullable<TroubleView["finding"]>): HTMLElement {
  return facts([
    ["verdict", [h("b", null, told.word, told.rule ? ` (${told.rule})` : ""), ` ${MEANINGS[told.word] ?? ""}`]],
    ["in", told.state],
    ["event", told.event],
    ["because", told.because ? h("code", null, told.because) : null],
  ]);
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
    if (tape !== undefined)
      fill(
        box,
        chart(
          document,
          new Tape(tape),
          bad ? (details?.forbidden ?? undefined) : null,
          details?.explanation ?? null,
          step,
        ),
      );
    else fill(box, h("p", { class: "soft" }, "The steps of this run are in the record only."));
  };
  const small = (): void => {
    if (smaller !== undefined)
      fill(box, chart(document, new Tape(smaller.tape), smaller.forbidden, smaller.explanation, undefined));
  };
  // The short run says more, unless a step of the long one is asked for.
  const first = smaller !== undefined && step === undefined ? "small" : "found";
  if (first === "small") small();
  else found();
  const steps = smaller === undefined ? 0 : smaller.tape.before + smaller.tape.label.length;
  const chips =
    smaller !== undefined &&
    h(
      "div",
      { class: "toolbar" },
      choice(
        "which run",
        [
          { key: "found", text: `as found: ${plural(smaller.from, "step")}` },
          { key: "small", text: `${smaller.minimal ? "smallest" : "smaller"}: ${plural(steps, "step")}` },
        ],
        first,
        (key) => (key === "found" ? found() : small()),
      ),
      h(
        "span",
        { class: "soft" },
        `${plural(smaller.attempts, "run")} tried; it fails ${smaller.reproduced} of ${smaller.of} times`,
      ),
    );
  return h("div", { class: "charts" }, chips, box);
}
