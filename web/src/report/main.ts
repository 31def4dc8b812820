// The report: one page that opens from disk. The address after `#` says which part is shown.

import { type Child, byId, fill, h } from "../shared/dom.js";
import { bind, help, listen } from "../shared/keys.js";
import { applyTheme, themeButton } from "../shared/theme.js";
import { badge } from "../shared/verdict.js";
import type { Outcome } from "../shared/words.js";
import { excerpt } from "../shared/visible.js";
import { read } from "./data.js";
import type { DocumentView } from "./views.js";
import { modelPage } from "./modelpage.js";
import { mutantsPage } from "./mutants.js";
import { overview } from "./overview.js";
import { to } from "./parts.js";
import { requirements, requirementsPage } from "./requirements.js";
import { runPage } from "./run.js";
import { runsPage } from "./runs.js";
import { suitePage } from "./suitepage.js";
import { timingPage } from "./timing.js";
import { valuesPage } from "./values.js";

interface Tab {
  key: string;
  text: string;
  /** Whether the report has anything to say here. */
  is: (document: DocumentView) => boolean;
  show: (document: DocumentView, rest: string[]) => Child;
}

const TABS: Tab[] = [
  { key: "summary", text: "Summary", is: ({ campaign }) => campaign !== null, show: overview },
  { key: "mutants", text: "Mutants", is: ({ mutation }) => mutation !== null, show: mutantsPage },
  { key: "suite", text: "Suite", is: ({ suite }) => suite !== null, show: suitePage },
  { key: "model", text: "Model", is: ({ model }) => model !== null, show: (it, [label]) => modelPage(it, label) },
  { key: "runs", text: "Runs", is: ({ campaign }) => campaign !== null, show: runsPage },
  { key: "values", text: "Values", is: ({ campaign }) => (campaign?.values.length ?? 0) > 0, show: valuesPage },
  { key: "timing", text: "Timing", is: ({ campaign }) => (campaign?.latency.length ?? 0) > 0, show: timingPage },
  { key: "requirements", text: "Requirements", is: (it) => requirements(it).length > 0, show: requirementsPage },
];

function start(): void {
  applyTheme();
  const data = read();
  const tabs = TABS.filter((tab) => tab.is(data));
  const nav = h(
    "nav",
    { "aria-label": "parts of the report" },
    tabs.map(({ key, text }) => h("a", { href: to(key), "data-tab": key }, text)),
  );
  const main = h("main", { id: "main", tabindex: -1 });
  fill(
    byId("app"),
    h(
      "a",
      { class: "skip", href: "#main", onclick: (event: Event) => (event.preventDefault(), main.focus()) },
      "to the content",
    ),
    masthead(data, nav),
    main,
  );
  const show = (): void => {
    const [key = "", ...rest] = location.hash.replace(/^#\/?/, "").split("/").map(decoded);
    const tab = tabs.find((it) => it.key === key) ?? tabs[0];
    const run = key === "run" && data.campaign !== null;
    const current = run ? "runs" : tab?.key;
    for (const link of nav.children) {
      if (link.getAttribute("data-tab") === current) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    main.className = run ? "run" : (tab?.key ?? "");
    fill(
      main,
      run
        ? runPage(data, Number(rest[0]), rest[1] === undefined ? undefined : Number(rest[1]))
        : tab?.show(data, rest),
    );
    // Every part has a heading of the first level; where none is seen, it is there for those who hear the page.
    if (main.querySelector("h1") === null) main.prepend(h("h1", { class: "sr" }, tab?.text ?? ""));
    scrollTo(0, 0);
  };
  addEventListener("hashchange", show);
  tabs.forEach(({ key, text }, at) => bind(String(at + 1), text.toLowerCase(), () => (location.hash = to(key))));
  const first = data.campaign?.figures.failures[0]?.first;
  if (first !== undefined) bind("f", "the first failing run", () => (location.hash = to("run", first)));
  bind("/", "find", () => document.querySelector<HTMLInputElement>("main input[type=search]")?.focus());
  listen();
  show();
}

/** A part of the address; one that is badly written stays as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function masthead(data: DocumentView, nav: HTMLElement): HTMLElement {
  const { campaign, mutation, suite, model } = data;
  const name = campaign?.figures.campaign?.model ?? mutation?.model ?? suite?.machine ?? model?.name ?? "";
  const words: Record<string, Outcome> = { failed: "fail", passed: "pass", "without verdict": "error" };
  const verdict = campaign && badge(words[campaign.figures.verdict] ?? "inconclusive", campaign.figures.verdict);
  return h(
    "header",
    { class: "masthead" },
    h("span", { class: "brand" }, "ioxide"),
    h("span", { class: "about" }, excerpt(name, 60)),
    verdict,
    nav,
    h("button", { class: "quiet", type: "button", "aria-label": "show the keys", onclick: help }, "? keys"),
    themeButton(),
  );
}

start();
