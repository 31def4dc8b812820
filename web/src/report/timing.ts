// How long the system took to answer, and how long silence should last to count.

import { type Child, h, s } from "../shared/dom.js";
import { duration } from "../shared/time.js";
import type { CampaignView, DocumentView } from "./views.js";
import { card } from "./parts.js";

const WIDTH = 900;
const LANE = 44;
const NAME = 150;
/** Room for the names of the two times of silence. */
const TOP = 34;

export function timingPage({ campaign }: DocumentView): Child {
  if (campaign === null || campaign.latency.length === 0) {
    return h(
      "p",
      null,
      "The record has no times: `--no-times` was given, or ioxide simulated the system from a model.",
    );
  }
  const { figures } = campaign;
  const used = figures.campaign?.patience_ms ?? 0;
  const suggested = figures.suggested_patience_ms;
  return h(
    "div",
    { class: "timing-page" },
    card(
      "Response times",
      h(
        "p",
        null,
        `After ${used} ms without a message, the system counted as silent.`,
        suggested !== null && h("b", null, ` ${suggested} ms would be enough for these replies`),
        suggested !== null &&
          h(
            "span",
            null,
            suggested < used
              ? ", and tests would run faster."
              : suggested > used
                ? "; with less, late replies can be taken for silence."
                : ".",
          ),
      ),
      plot(campaign, used, suggested),
      suggested !== null &&
        h(
          "p",
          { class: "soft" },
          "The suggested time is longer than the slowest reply took; ",
          h("code", null, `--silence-ms ${suggested}`),
          " sets it.",
        ),
    ),
    table(campaign),
    spentCard(campaign),
  );
}

/** What the time of the campaign was used for, as a table. */
function spentCard({ figures }: CampaignView): Child {
  const spent = figures.time_spent;
  if (spent === null) return null;
  const uses: [string, number][] = [
    ["waiting for replies", spent.replies_ms],
    ["waiting for silence", spent.silence_ms],
    ["starting and resetting", spent.restarts_ms],
    ["choosing the next input", spent.tester_ms],
    ["repeating failures", spent.repeats_ms],
    ["everything else", spent.other_ms],
  ];
  const total = Math.max(1, uses.reduce((sum, [, ms]) => sum + ms, 0));
  const row = ([text, ms]: [string, number]): HTMLElement =>
    h(
      "tr",
      null,
      h("td", null, text),
      h("td", { class: "number" }, duration(ms * 1e6)),
      h("td", { class: "number" }, `${Math.round((100 * ms) / total)} %`),
    );
  return card(
    "Where the time went",
    h("p", null, `The campaign took ${duration(spent.elapsed_ms * 1e6)}.`),
    h("table", null, uses.filter(([, ms]) => ms > 0).map(row)),
  );
}

/** One lane per message on one logarithmic axis, and the two times of silence across. */
function plot({ latency }: CampaignView, used: number, suggested: number | null): SVGElement {
  const begins = latency.flatMap(({ classes }) => classes.map(([begin]) => begin));
  const marks = [used, suggested ?? used].filter((ms) => ms > 0).map((ms) => ms * 1e6);
  const least = Math.log10(Math.max(1, Math.min(...begins, ...marks) / 1.5));
  const most = Math.log10(Math.max(...begins, ...marks) * 2);
  const x = (ns: number): number =>
    NAME + ((Math.log10(Math.max(1, ns)) - least) / (most - least)) * (WIDTH - NAME - 20);
  const height = TOP + latency.length * LANE + 34;
  const lane = ({ label, classes }: CampaignView["latency"][number], at: number): SVGElement => {
    const top = Math.max(...classes.map(([, n]) => n));
    const bottom = TOP + (at + 1) * LANE;
    const bar = ([begin, n]: [number, number]): SVGElement => {
      const tall = Math.max(2, ((LANE - 10) * n) / top);
      return s(
        "rect",
        { x: x(begin), y: bottom - tall, width: Math.max(2, x(begin * 1.41) - x(begin) - 1), height: tall, rx: 1 },
        s("title", null, `${label}: ${n} from ${duration(begin)}`),
      );
    };
    return s(
      "g",
      null,
      s("text", { x: NAME - 12, y: bottom - 8, "text-anchor": "end" }, label.slice(0, 20)),
      s("line", { class: "base", x1: NAME, x2: WIDTH - 10, y1: bottom, y2: bottom }),
      classes.map(bar),
    );
  };
  const ticks: SVGElement[] = [];
  for (let power = Math.ceil(least); power <= most; power += 1) {
    const at = x(10 ** power);
    ticks.push(
      s(
        "g",
        { class: "tick" },
        s("line", { x1: at, x2: at, y1: TOP, y2: height - 30 }),
        s("text", { x: at, y: height - 14, "text-anchor": "middle" }, duration(10 ** power)),
      ),
    );
  }
  const across = (ms: number, word: string, text: string, y: number): SVGElement =>
    s(
      "g",
      { class: word },
      s("line", { x1: x(ms * 1e6), x2: x(ms * 1e6), y1: y - 10, y2: height - 30 }),
      s("text", { x: x(ms * 1e6) - 6, y, "text-anchor": "end" }, text),
    );
  const suggestion = suggested === null ? "" : `, ${suggested} ms suggested`;
  return s(
    "svg",
    {
      class: "latency",
      viewBox: `0 0 ${WIDTH} ${height}`,
      role: "img",
      "aria-label": `time to answer by message; silence counts after ${used} ms${suggestion}`,
    },
    ticks,
    latency.map(lane),
    used > 0 && across(used, "used", `silence: ${used} ms`, 12),
    suggested !== null && across(suggested, "suggested", `suggested: ${suggested} ms`, 26),
  );
}

function table({ figures }: CampaignView): Child {
  if (figures.latencies.length === 0) return null;
  const row = (it: CampaignView["figures"]["latencies"][number]): HTMLElement => {
    const times = [it.p50_us, it.p99_us, it.max_us].map((us) => h("td", { class: "number" }, duration(us * 1e3)));
    return h(
      "tr",
      null,
      h("td", null, h("code", null, it.label)),
      h("td", { class: "number" }, it.n.toLocaleString("en")),
      times,
    );
  };
  const heads = ["seen", "median", "p99", "max"].map((text) => h("th", { class: "number" }, text));
  return card(
    "By message",
    h("table", null, h("tr", null, h("th", null, "message"), heads), figures.latencies.map(row)),
  );
}
