// The first page: what was tested, how it went, what went wrong, what to do next.

import { type Child, breakable, h } from "../shared/dom.js";
import { duration } from "../shared/time.js";
import { badge } from "../shared/verdict.js";
import { excerpt } from "../shared/visible.js";
import { counted, ORDER, STATUS } from "./coverage.js";
import { chart } from "./chart.js";
import { Tape } from "./data.js";
import { gotExpected, reasons, reproduce } from "./failure.js";
import type {
  CampaignView,
  ChangeView,
  DocumentView,
  FailureJson,
  ReplayedJson,
  MeasureRecord,
  OperationCounts,
  PartFamily,
  ReasonsJson,
  SmallerView,
} from "./views.js";
import { card, link, plural, stacked } from "./parts.js";

/** Kinds of failures told on the first page. */
const MAX_TOLD = 6;

export function overview(document: DocumentView): Child {
  const { campaign } = document;
  if (campaign === null) return null;
  const { figures } = campaign;
  const failures = figures.failures.slice(0, MAX_TOLD).map((failure, at) => failureCard(document, failure, at === 0));
  const more = figures.failures.length - failures.length;
  return h(
    "div",
    { class: "overview" },
    verdictCard(campaign),
    document.notes.map((note) => h("p", { class: "note-line", role: "note" }, note)),
    failures,
    evidenceCard(document),
    more > 0 && h("p", null, link(`${plural(more, "more kind")} of failures in the list of runs`, "runs")),
    h("div", { class: "pair" }, coverageCard(document), figuresCard(campaign)),
    operationsCard(campaign),
    partsCard(campaign),
    measuresCard(campaign),
    reasonsCard("No verdict", figures.errors),
    reasonsCard("Inconclusive", figures.inconclusive),
  );
}

const TOLD: Record<string, { mark: string; sign: string }> = {
  failed: { mark: "fail", sign: "✗" },
  passed: { mark: "pass", sign: "✓" },
};

function verdictCard({ figures, seed }: CampaignView): HTMLElement {
  const { mark, sign } = TOLD[figures.verdict] ?? { mark: "inconclusive", sign: "?" };
  const { runs, campaign } = figures;
  const said =
    figures.verdict === "failed"
      ? `${runs.failed} of ${plural(runs.finished, "run")} failed`
      : figures.verdict === "passed"
        ? `${runs.passed} of ${plural(runs.finished, "run")} passed`
        : figures.reason
          ? `${figures.verdict}: ${figures.reason}`
          : figures.verdict;
  const about =
    campaign &&
    h(
      "p",
      null,
      h("b", null, breakable(excerpt(campaign.sut, 120))),
      " tested against ",
      h("b", null, breakable(excerpt(campaign.file || campaign.model, 120))),
      campaign.set.length > 0 && ` with ${campaign.set.join(" ")}`,
      ` by the ${excerpt(campaign.tester, 80)}, seed ${seed}.`,
    );
  return h(
    "section",
    { class: `verdict ${mark}`, "aria-label": "verdict" },
    h("span", { class: "sign", "aria-hidden": "true" }, sign),
    h("div", null, h("h1", null, said), about),
  );
}

/** What speaks for each side after a failure, and changes of the model that would explain every run. */
function evidenceCard({ evidence }: DocumentView): Child {
  if (evidence === null) return null;
  const change = ({ reason, diff, effects }: ChangeView): HTMLElement =>
    h(
      "details",
      null,
      h("summary", null, inCode(reason)),
      h("pre", { class: "script" }, diff),
      h("ul", null, effects.map((it) => h("li", null, excerpt(it, 600)))),
    );
  return h(
    "section",
    { class: "card evidence" },
    h("h2", null, "Evidence"),
    h("p", { class: "soft" }, "It does not decide whether the system or the model is wrong."),
    h("ul", null, evidence.facts.map((it) => h("li", null, inCode(it)))),
    evidence.changes.length > 0 && [
      h("p", null, "If the system is right, each of these changes of the model explains every run:"),
      evidence.changes.map(change),
    ],
    evidence.command !== null && h("p", { class: "soft" }, evidence.command),
  );
}

/** A sentence in which names in backquotes are code. */
function inCode(text: string): Child {
  return text.split("`").map((part, at) => (at % 2 === 1 ? h("code", null, excerpt(part, 200)) : part));
}

/** How often a failure came back, and whether only because the reset leaves something behind. */
function repeated(replayed: ReplayedJson): string {
  const times = `failed again ${replayed.reproduced} of ${replayed.of} times`;
  return replayed.only_after_reset
    ? `${times}, never after a restart: the reset leaves something behind (try reset = "restart")`
    : times;
}

/** A kind of failure: got and expected, the smallest run, why it was wrong, how to reproduce it. The first one is shown
 * in full. */
function failureCard(document: DocumentView, failure: FailureJson, isFirst: boolean): HTMLElement {
  const smaller = document.campaign?.smaller.find(([run]) => run === failure.first)?.[1];
  const explanation = smaller?.explanation ?? failure.explanation;
  const again = failure.replayed && repeated(failure.replayed);
  const facts = [plural(failure.runs, "run"), `first: run ${failure.first}, step ${failure.forbidden}`, again];
  const more = [
    explanation && reasons(explanation),
    smallestRun(document, failure, smaller),
    reproduce(document, failure.first, smaller),
  ];
  return h(
    "section",
    { class: "card failure" },
    h(
      "h2",
      null,
      badge("fail", "failure"),
      excerpt(
        smaller?.explanation ? `not allowed: ${smaller.explanation.observed}` : failure.reason || failure.id,
        200,
      ),
    ),
    failure.http && h("pre", { class: "script" }, failure.http.join("\n")),
    explanation && gotExpected(explanation),
    isFirst ? more : h("details", null, h("summary", null, "why not, the smallest run, how to reproduce it"), more),
    h("p", { class: "soft" }, facts.filter(Boolean).join(" · ")),
    h(
      "p",
      null,
      link(`Open run ${failure.first}`, "run", failure.first),
      h("span", { class: "soft" }, " · failure id: ", h("code", null, failure.id)),
    ),
  );
}

/** The chart of the smallest run that fails in this way, else of the run as it was found. */
function smallestRun(document: DocumentView, failure: FailureJson, smaller: SmallerView | undefined): Child {
  const found = document.campaign?.runs.tapes[failure.first];
  const tape = smaller?.tape ?? found;
  if (tape === undefined) return null;
  const steps = plural(tape.before + tape.label.length, "step");
  const title =
    smaller === undefined
      ? `The run: ${steps}`
      : `The ${smaller.minimal ? "smallest" : "smaller"} failing run: ${steps}`;
  const told =
    smaller &&
    `made from ${plural(smaller.from, "step")} by ${plural(smaller.attempts, "run")}; ` +
    `it fails ${smaller.reproduced} of ${smaller.of} times`;
  const explanation = smaller?.explanation ?? (smaller === undefined ? failure.explanation : null);
  return h(
    "div",
    { class: "smallest" },
    h("h3", null, title),
    told && h("p", { class: "soft" }, told),
    chart(document, new Tape(tape), smaller?.forbidden ?? failure.forbidden, explanation, undefined),
  );
}

function coverageCard(document: DocumentView): Child {
  if (document.model === null) return null;
  const counts = counted(document);
  const parts = ORDER.map((status) => ({
    word: STATUS[status].word,
    n: counts.get(status) ?? 0,
    mark: `status ${status}`,
    sign: STATUS[status].sign,
  }));
  return card(
    "The model",
    h("p", null, `${plural(document.model.switches.length, "transition")}, by coverage:`),
    stacked(parts, "transitions"),
    h("p", null, link("Look at the graph", "model")),
  );
}

/** What was taken of each part of a system. */
function partsCard({ parts }: CampaignView): Child {
  if (parts.length === 0) return null;
  const row = ({ name, instances, total, some, each }: PartFamily): HTMLElement =>
    h(
      "tr",
      null,
      h("td", null, h("code", null, name)),
      h("td", { class: "number" }, instances),
      h("td", { class: "number" }, total),
      h("td", { class: "number" }, some),
      h("td", { class: "number" }, each),
    );
  const head = ["part", "instances", "transitions", "covered in some", "covered in all"].map((text) =>
    h("th", null, text),
  );
  return card("The parts", h("table", { class: "parts" }, h("tr", null, head), parts.map(row)));
}

/** Requests, statuses and transitions by operation of a system that is asked by HTTP. */
function operationsCard({ figures }: CampaignView): Child {
  const { operations } = figures;
  if (operations === undefined || operations.length === 0) return null;
  const head = ["operation", "requests", "answers by status", "transitions covered"];
  const row = (it: OperationCounts) =>
    h(
      "tr",
      null,
      h("th", { scope: "row", title: it.pointer ?? "" }, breakable(excerpt(it.operation, 80))),
      h("td", null, String(it.requests)),
      h(
        "td",
        null,
        Object.entries(it.statuses)
          .map(([status, n]) => `${status}: ${n}`)
          .join(", "),
      ),
      h("td", null, `${it.covered} of ${it.transitions}`),
    );
  return card(
    "Operations",
    h(
      "table",
      { class: "measures" },
      h(
        "tr",
        null,
        head.map((text) => h("th", { scope: "col" }, text)),
      ),
      operations.map(row),
    ),
  );
}

/** What the measures count, in words. */
const MEASURES: Record<string, string> = {
  switches: "transitions",
  pairs: "pairs of transitions",
  comparisons: "both sides and the boundary of comparisons",
  values: "kinds of values for fields",
  equalities: "fields equal to other fields or variables",
};

/** How much of data and history was covered, and what was not. */
function measuresCard({ figures }: CampaignView): Child {
  const { measures, history } = figures;
  if (measures.length === 0) return null;
  const row = ({ measure, seen, total, missing = [] }: MeasureRecord): HTMLElement => {
    const left = (total ?? seen) - seen;
    const named = missing.map((name) => h("li", null, excerpt(name, 200)));
    const more = left - missing.length;
    const rest =
      left > 0 &&
      h(
        "details",
        null,
        h("summary", null, `${left} not seen`),
        h("ul", null, named, more > 0 && h("li", null, `and ${more} more`)),
      );
    const bar = total !== undefined && total > 0 && h("meter", { min: "0", max: String(total), value: String(seen) });
    return h(
      "tr",
      null,
      h("td", null, MEASURES[measure] ?? measure),
      h("td", { class: "number" }, total === undefined ? String(seen) : `${seen} of ${total}`),
      h("td", null, bar),
      h("td", null, rest),
    );
  };
  const far = (history?.extents ?? []).map(({ variable, least, most }) =>
    h("li", null, h("code", null, variable), ` ${least} to ${most}`),
  );
  const chance = history?.new_pairs_per_million;
  return card(
    "Coverage",
    h("table", { class: "measures coverage" }, measures.map(row)),
    h(
      "p",
      { class: "soft" },
      "Cases that guards exclude are not listed; some of the listed cases may still be impossible.",
    ),
    history !== null && h("p", null, `The longest run had ${plural(history.longest_run, "step")}.`),
    far.length > 0 && h("details", null, h("summary", null, "Ranges of variables"), h("ul", null, far)),
    chance !== undefined &&
      h(
        "p",
        { class: "soft" },
        `Estimated chance that the next step covers a new pair: ${(chance / 1e4).toFixed(1)} %.`,
      ),
  );
}

function figuresCard({ figures }: CampaignView): HTMLElement {
  const { runs } = figures;
  const parts = [
    { word: "passed", n: runs.passed, mark: "pass", sign: "✓" },
    { word: "failed", n: runs.failed, mark: "fail", sign: "✗" },
    { word: "inconclusive", n: runs.inconclusive, mark: "inconclusive", sign: "?" },
    { word: "no verdict", n: runs.errors, mark: "error", sign: "!" },
    { word: "interrupted", n: runs.interrupted, mark: "interrupted", sign: "‖" },
    { word: "not ended", n: runs.cut, mark: "interrupted", sign: "‖" },
  ];
  // The time in which failures were repeated and shrunk made no steps; runs at the same time go on meanwhile.
  const isOneByOne = (figures.campaign?.jobs ?? 1) <= 1;
  const repeating = isOneByOne ? Math.min((figures.time_spent?.repeats_ms ?? 0) * 1e6, figures.time_ns) : 0;
  const testing = figures.time_ns - repeating;
  const rate =
    repeating > 0
      ? `; ${duration(repeating)} to repeat and shrink failures`
      : `, ${Math.round(figures.steps / (testing / 1e9)).toLocaleString("en")} a second`;
  const time = figures.time_ns > 0 ? ` in ${duration(testing)}${rate}` : "";
  return card(
    "The runs",
    h("p", null, `${plural(figures.steps, "step")}${time}.`),
    stacked(parts, "runs"),
    figures.doubts > 0 && h("p", { class: "soft" }, `The solver left ${plural(figures.doubts, "question")} open.`),
    h("p", null, link("All runs", "runs")),
  );
}

function reasonsCard(title: string, told: ReasonsJson): Child {
  if (told.reasons.length === 0) return null;
  const row = ({ reason, runs }: { reason: string; runs: number }): HTMLElement =>
    h("tr", null, h("td", null, excerpt(reason, 500)), h("td", { class: "number" }, runs));
  return card(
    title,
    h(
      "table",
      null,
      h("tr", null, h("th", null, "reason"), h("th", { class: "number" }, "runs")),
      told.reasons.map(row),
    ),
    told.others > 0 && h("p", { class: "soft" }, `and ${plural(told.others, "run")} for other reasons`),
  );
}
