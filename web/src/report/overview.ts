// The first page: what was tested, how it went, what went wrong, what to do next.

import { copyable } from "../shared/copy.js";
import { type Child, h } from "../shared/dom.js";
import { duration } from "../shared/time.js";
import { badge } from "../shared/verdict.js";
import { excerpt } from "../shared/visible.js";
import { counted, ORDER, STATUS } from "./coverage.js";
import type { CampaignView, DocumentView, Explanation, FailureJson, MeasureRecord, PartFamily, ReasonsJson } from "./views.js";
import { card, link, plural, stacked, switchLink } from "./parts.js";

/** Kinds of failures told on the first page. */
const MAX_TOLD = 6;

export function overview(document: DocumentView): Child {
  const { campaign } = document;
  if (campaign === null) return null;
  const { figures } = campaign;
  const failures = figures.failures.slice(0, MAX_TOLD).map((failure) => failureCard(document, failure));
  const more = figures.failures.length - failures.length;
  return h(
    "div",
    { class: "overview" },
    verdictCard(campaign),
    document.notes.map((note) => h("p", { class: "note-line", role: "note" }, note)),
    failures,
    more > 0 && h("p", null, link(`${plural(more, "more kind")} of failures among the runs`, "runs")),
    h("div", { class: "pair" }, coverageCard(document), figuresCard(campaign)),
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
      h("b", null, excerpt(campaign.sut, 120)),
      " tested against ",
      h("b", null, excerpt(campaign.file || campaign.model, 120)),
      campaign.set.length > 0 && ` with ${campaign.set.join(" ")}`,
      ` by the ${excerpt(campaign.tester, 80)}, seed ${seed}.`,
    );
  const next = figures.failures.length > 0 && link("See what went wrong →", "run", figures.failures[0]?.first ?? 1);
  return h(
    "section",
    { class: `verdict ${mark}`, "aria-label": "verdict" },
    h("span", { class: "sign", "aria-hidden": "true" }, sign),
    h("div", null, h("h1", null, said), about, next),
  );
}

/** A kind of failure: got, expected, how to see it again. */
function failureCard(document: DocumentView, failure: FailureJson): HTMLElement {
  const again = failure.replayed && `failed again ${failure.replayed.reproduced} of ${failure.replayed.of} times`;
  const small = failure.shrunk && `${failure.shrunk.minimal ? "smallest" : "smaller"} failing run: ${plural(failure.shrunk.steps, "step")}`;
  const facts = [plural(failure.runs, "run"), `first: run ${failure.first}, step ${failure.forbidden}`, again, small];
  return h(
    "section",
    { class: "card failure" },
    h("h2", null, badge("fail", "failure"), excerpt(failure.reason || failure.signature, 200)),
    failure.explanation && gotExpected(failure.explanation),
    h("p", { class: "soft" }, facts.filter(Boolean).join(" · ")),
    h("p", null, link(`Open run ${failure.first}`, "run", failure.first), h("span", { class: "soft" }, ` · known as ${excerpt(failure.signature, 160)}`)),
    replay(document, failure.first),
  );
}

/** What was seen beside what was allowed. */
export function gotExpected(told: Explanation): HTMLElement {
  const allowed = told.allowed.slice(0, 8).map((it) =>
    h("li", null, h("code", null, excerpt(it.label, 300)), it.switch !== undefined && [" by ", switchLink(it.switch)]),
  );
  const more = told.allowed.length - allowed.length;
  return h(
    "div",
    { class: "got-expected" },
    h("div", { class: "got" }, h("h3", null, "Got"), h("code", null, excerpt(told.observed, 600))),
    h(
      "div",
      { class: "expected" },
      h("h3", null, "Expected"),
      allowed.length > 0 ? h("ul", null, allowed) : h("p", null, "nothing at all"),
      more > 0 && h("p", { class: "soft" }, `or one of ${more} more`),
    ),
  );
}

/** The command that does a run again. */
export function replay(document: DocumentView, run: number): Child {
  const sut = document.campaign?.figures.campaign?.sut;
  if (document.record === "" || sut === undefined) return null;
  const command = `ioxide replay ${word(document.record)} --number ${run} --sut ${word(sut)}`;
  return copyable(command, "the command that does this run again");
}

/** A word as a shell reads it. */
function word(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`;
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
    h("p", null, `${plural(document.model.switches.length, "switch").replace("switchs", "switches")}: what can be taken, and what was.`),
    stacked(parts, "switches"),
    h("p", null, link("Look at the graph", "model")),
  );
}

/** What was taken of each part of a system. */
function partsCard({ parts }: CampaignView): Child {
  if (parts.length === 0) return null;
  const row = ({ name, instances, total, some, each }: PartFamily): HTMLElement =>
    h("tr", null, h("td", null, h("code", null, name)), h("td", { class: "number" }, instances), h("td", { class: "number" }, total), h("td", { class: "number" }, some), h("td", { class: "number" }, each));
  const head = ["part", "instances", "switches", "taken in some", "taken in each"].map((text) => h("th", null, text));
  return card("The parts", h("table", { class: "parts" }, h("tr", null, head), parts.map(row)));
}

/** What the measures count, in words. */
const MEASURES: Record<string, string> = {
  switches: "switches taken",
  pairs: "switches one after the other",
  comparisons: "sides and edges of comparisons, deadlines included",
  values: "kinds of values of fields",
  equalities: "fields equal to each other, and to what is stored",
};

/** How much of data and history was covered, and what was not. */
function measuresCard({ figures }: CampaignView): Child {
  const { measures, history } = figures;
  if (measures.length === 0) return null;
  const row = ({ measure, seen, total, missing = [] }: MeasureRecord): HTMLElement => {
    const left = (total ?? seen) - seen;
    const named = missing.map((name) => h("li", null, excerpt(name, 200)));
    const more = left - missing.length;
    const rest = left > 0 && h("details", null, h("summary", null, `${left} not seen`), h("ul", null, named, more > 0 && h("li", null, `and ${more} more`)));
    const bar = total !== undefined && total > 0 && h("meter", { min: "0", max: String(total), value: String(seen) });
    return h("tr", null, h("td", null, MEASURES[measure] ?? measure), h("td", { class: "number" }, total === undefined ? String(seen) : `${seen} of ${total}`), h("td", null, bar), h("td", null, rest));
  };
  const far = (history?.extents ?? []).map(({ variable, least, most }) => h("li", null, h("code", null, variable), ` ${least} to ${most}`));
  const chance = history?.new_pairs_per_million;
  return card(
    "Data and history",
    h("table", { class: "measures" }, measures.map(row)),
    h("p", { class: "soft" }, "What guards exclude is not counted; what is not seen was possible as far as guards tell, and did not come."),
    history !== null && h("p", null, `The longest run had ${plural(history.longest_run, "step")}.`),
    far.length > 0 && h("details", null, h("summary", null, "How far variables went"), h("ul", null, far)),
    chance !== undefined && h("p", { class: "soft" }, `A pair of switches not seen yet would come about ${(chance / 1e4).toFixed(1)} times in 100 steps, if it went on like this.`),
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
    { word: "broken off", n: runs.cut, mark: "interrupted", sign: "‖" },
  ];
  const rate = figures.time_ns > 0 ? `, ${Math.round(figures.steps / (figures.time_ns / 1e9)).toLocaleString("en")} a second` : "";
  const time = figures.time_ns > 0 ? ` in ${duration(figures.time_ns)}${rate}` : "";
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
    h("table", null, h("tr", null, h("th", null, "reason"), h("th", { class: "number" }, "runs")), told.reasons.map(row)),
    told.others > 0 && h("p", { class: "soft" }, `and ${plural(told.others, "run")} for other reasons`),
  );
}
