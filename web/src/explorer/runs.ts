// Recorded runs: which there are, and one of them step by step.

import { fill, h } from "../shared/dom.js";
import { VirtualList } from "../shared/list.js";
import { badge } from "../shared/verdict.js";
import { excerpt } from "../shared/visible.js";
import type { BriefView, ModelView, RecordView, RecordedStepView, RecordsView, RunView, WalkView } from "./views.js";
import { get, post } from "./api.js";
import { belief, forbidden, placesOf } from "./belief.js";
import type { Picture } from "./picture.js";
import { type Route, go, rename } from "./route.js";
import type { Screen } from "./screen.js";

/** Steps asked for at once. */
const PIECE = 500;

export class RunsScreen implements Screen {
  readonly element = h("div", { class: "panel runs" });

  constructor(private readonly picture: Picture) {}

  async show(): Promise<void> {
    this.picture.mark(() => "");
    this.picture.at([]);
    const { records } = await get<RecordsView>("records");
    const none = h(
      "section",
      { class: "card" },
      h("h2", null, "No recorded runs"),
      h(
        "p",
        null,
        "Record some with ",
        h("code", null, "ioxide test … --report runs"),
        " and start the explorer with ",
        h("code", null, "--run runs"),
        ". Failing runs of a live campaign appear here as well.",
      ),
    );
    fill(this.element, records.length === 0 ? none : records.map((recording, at) => this.record(recording, at)));
  }

  keys(): [string, string][] {
    return [["↑ ↓ Enter", "choose a run"]];
  }

  key(): boolean {
    return false;
  }

  pointed(): void {}

  leave(): void {}

  private record(recording: RecordView, record: number): HTMLElement {
    if (recording.history) {
      return h(
        "section",
        { class: "card" },
        h("h2", null, excerpt(recording.name, 120)),
        h("p", { class: "soft" }, "a history of concurrent clients"),
        h("p", null, h("a", { href: `history/${record}` }, "open the timeline")),
      );
    }
    const open = (row: number): void => {
      const brief = recording.runs[row];
      if (brief !== undefined) go({ screen: "run", record, run: brief.at, step: brief.steps });
    };
    const list = new VirtualList({
      label: `runs of ${recording.name}`,
      rowHeight: 34,
      count: () => recording.runs.length,
      row: (at) => runRow(recording.runs[at]),
      onOpen: open,
      opensAtOnce: true,
    });
    const box = h("div", { class: "run-list" }, list.element);
    box.style.height = `${Math.min(12, Math.max(1, recording.runs.length)) * 34 + 4}px`;
    const first = recording.runs.findIndex(({ outcome }) => outcome === "fail");
    if (first >= 0) list.select(first, "quietly");
    return h(
      "section",
      { class: "card" },
      h("h2", null, excerpt(recording.name, 120)),
      h(
        "p",
        { class: "soft" },
        `${recording.n_runs.toLocaleString("en")} runs, ${recording.n_failed.toLocaleString("en")} failed`,
        recording.cut && "; not all of them are listed",
      ),
      recording.runs.length > 0 && box,
    );
  }
}

function runRow(brief: BriefView | undefined): HTMLElement {
  if (brief === undefined) return h("div");
  return h(
    "div",
    { class: "run-row" },
    h("span", { class: "n" }, brief.number),
    badge(brief.outcome),
    h("span", { class: "soft" }, `${brief.steps.toLocaleString("en")} steps`),
    h("span", { class: "goal" }, excerpt(brief.goal, 120)),
    h("span", { class: "opens", "aria-hidden": "true" }, "›"),
  );
}

export class RunScreen implements Screen {
  readonly element = h("div", { class: "panel one-run" });
  private at = { record: -1, run: -1, step: 0 };
  private run: RunView | null = null;
  private steps: (RecordedStepView | undefined)[] = [];
  private readonly wanted = new Set<number>();
  private list: VirtualList | null = null;
  private readonly now = h("div", { class: "now" });
  private view: WalkView | null = null;
  private asked = 0;

  constructor(
    private readonly model: ModelView,
    private readonly picture: Picture,
    private readonly refresh: () => Promise<void>,
  ) {}

  async show(route: Route): Promise<void> {
    if (route.screen !== "run") return;
    const same = route.record === this.at.record && route.run === this.at.run && this.run !== null;
    this.at = { record: route.record, run: route.run, step: route.step };
    if (!same) {
      this.run = await get<RunView>(`run/${route.record}/${route.run}?from=0&count=${PIECE}`);
      this.steps = new Array<RecordedStepView | undefined>(this.run.steps);
      this.wanted.clear();
      this.keep(this.run);
      this.draw(this.run);
    }
    this.at.step = Math.min(this.at.step, this.run?.steps ?? 0);
    if (this.at.step > 0) this.list?.select(this.at.step - 1, "quietly");
    await this.stand();
  }

  keys(): [string, string][] {
    return [
      ["j k", "next, previous step"],
      ["f", "the failing step"],
      ["g", "continue by hand from here"],
    ];
  }

  key(key: string): boolean {
    const last = this.run?.steps ?? 0;
    if (key === "j" || key === "ArrowDown") this.step(this.at.step + 1);
    else if (key === "k" || key === "ArrowUp") this.step(this.at.step - 1);
    else if (key === "f") this.step((this.run?.forbidden ?? last - 1) + 1);
    else if (key === "End") this.step(last);
    else if (key === "Home") this.step(0);
    else if (key === "g") this.walk();
    else return false;
    return true;
  }

  pointed(): void {}

  leave(): void {
    this.asked += 1;
  }

  private step(to: number): void {
    const step = Math.max(0, Math.min(to, this.run?.steps ?? 0));
    if (step === 0) {
      this.at.step = 0;
      rename({ screen: "run", ...this.at });
      void this.stand();
    } else this.list?.select(step - 1);
  }

  /** Goes on by hand; before the step that is forbidden, there is more to try. */
  private walk(): void {
    const { record, run, step } = this.at;
    go({ screen: "walk", path: [`@${record}.${run}.${step}`] });
  }

  private draw(run: RunView): void {
    this.list = new VirtualList({
      label: `steps of run ${run.number}`,
      rowHeight: 30,
      count: () => run.steps,
      row: (index) => this.row(index),
      onSelect: (index) => {
        this.at.step = index + 1;
        rename({ screen: "run", ...this.at });
        void this.stand();
      },
      onOpen: () => this.walk(),
    });
    const button = (text: string, key: string, act: () => void): HTMLElement =>
      h("button", { type: "button", onclick: act }, `${text} `, h("kbd", null, key));
    fill(
      this.element,
      h(
        "section",
        { class: "card run-head" },
        h(
          "div",
          { class: "row" },
          h("h1", null, `Run ${run.number}`),
          badge(run.outcome),
          h("a", { href: "#/runs" }, "all runs"),
        ),
        run.goal !== "" && h("p", { class: "soft" }, excerpt(run.goal, 200)),
        run.reason !== "" && run.explanation === null && h("p", null, excerpt(run.reason, 300)),
        h(
          "div",
          { class: "row" },
          button("previous", "k", () => this.step(this.at.step - 1)),
          button("next", "j", () => this.step(this.at.step + 1)),
          run.outcome === "fail" && button("failing step", "f", () => this.step((run.forbidden ?? run.steps - 1) + 1)),
          button("continue by hand", "g", () => this.walk()),
        ),
      ),
      h("section", { class: "card steps" }, this.list.element),
      this.now,
    );
    // A long run takes a moment to be followed; its steps are there already.
    fill(this.now, h("p", { class: "soft" }, "Following the run to this step …"));
  }

  private row(index: number): HTMLElement {
    const step = this.steps[index];
    if (step === undefined) {
      void this.fetch(index);
      return h("div", { class: "step" }, h("span", { class: "n" }, index + 1), h("span", { class: "soft" }, "…"));
    }
    const bad = this.run?.forbidden === index;
    return h(
      "div",
      { class: `step ${step.kind}${bad ? " bad" : ""}` },
      h("span", { class: "n" }, index + 1),
      h("span", { class: "what" }, excerpt(step.text, 240)),
      h("span", { class: "soft" }, step.switches.join(", ")),
      bad && badge("fail", "forbidden"),
    );
  }

  /** Gets the piece of the run that has this step. */
  private async fetch(index: number): Promise<void> {
    const from = index - (index % PIECE);
    if (this.wanted.has(from)) return;
    this.wanted.add(from);
    const { record, run } = this.at;
    const piece = await get<RunView>(`run/${record}/${run}?from=${from}&count=${PIECE}`);
    if (record !== this.at.record || run !== this.at.run) return;
    this.keep(piece);
    this.list?.refresh();
  }

  private keep(piece: RunView): void {
    this.wanted.add(piece.from);
    piece.list.forEach((step, at) => (this.steps[piece.from + at] = step));
  }

  /** Where the model may be after the step. */
  private async stand(): Promise<void> {
    const turn = (this.asked += 1);
    const { record, run, step } = this.at;
    const view = await post<WalkView>("walk", { path: [`@${record}.${run}.${step}`] });
    if (turn !== this.asked) return;
    if (view.revision !== this.model.revision) return this.refresh();
    const before = this.view !== null && Math.abs(this.view.n_steps - view.n_steps) === 1 ? this.view : null;
    this.view = view;
    fill(
      this.now,
      view.problem !== null && h("section", { class: "card problem", role: "alert" }, view.problem.why),
      view.forbidden !== null && forbidden(view.forbidden.explanation, "The model does not allow this step"),
      belief(this.model, view, before),
    );
    if (step > 0) this.list?.show(step - 1);
    const last = new Set(view.forbidden === null ? (view.steps[view.steps.length - 1]?.switches ?? []) : []);
    const suspects = new Set(view.forbidden?.explanation.why_not.map((why) => why.switch) ?? []);
    const next = new Set(view.choices.map((choice) => choice.switch));
    this.picture.mark((number) => {
      if (last.has(number)) return "last";
      if (suspects.has(this.model.switches[number]?.label ?? "")) return "suspect";
      return next.has(number) ? "enabled" : "dim";
    });
    this.picture.at(view.belief.states.flatMap((state) => placesOf(this.model, state)));
  }
}
