// A campaign under way: started, slowed down, paused and stopped here, its coverage on the picture.

import { fill, h } from "../shared/dom.js";
import { badge } from "../shared/verdict.js";
import { excerpt } from "../shared/visible.js";
import type { LiveView, ModelView, SutView } from "./views.js";
import { get, post } from "./api.js";
import type { Picture } from "./picture.js";
import type { Screen } from "./screen.js";

const PACES: [string, number][] = [
  ["as fast as possible", 0],
  ["20 steps a second", 50],
  ["4 steps a second", 250],
  ["a step a second", 1000],
];

export class LiveScreen implements Screen {
  readonly element = h("div", { class: "panel live" });
  private readonly status = h("div", { class: "status" });
  private events: EventSource | null = null;
  private view: LiveView | null = null;
  private sut: SutView | null = null;
  private buttons: { start: HTMLButtonElement; pause: HTMLButtonElement; stop: HTMLButtonElement } | null = null;
  private problem = "";

  constructor(
    private readonly model: ModelView,
    private readonly picture: Picture,
  ) {}

  async show(): Promise<void> {
    this.picture.at([]);
    this.picture.mark(() => "never");
    if (this.sut === null) {
      this.sut = await get<SutView>("sut");
      this.draw(this.sut);
    }
    this.listen();
  }

  keys(): [string, string][] {
    return [
      ["Enter", "start"],
      ["p", "pause, go on"],
      ["x", "stop"],
    ];
  }

  key(key: string): boolean {
    if (key === "Enter") this.buttons?.start.click();
    else if (key === "p" || key === " ") this.buttons?.pause.click();
    else if (key === "x") this.buttons?.stop.click();
    else return false;
    return true;
  }

  pointed(): void {}

  leave(): void {
    this.events?.close();
    this.events = null;
  }

  private draw({ sut, testers }: SutView): void {
    if (sut === null) {
      fill(
        this.element,
        h(
          "section",
          { class: "card" },
          h("h2", null, "No system to test"),
          h(
            "p",
            null,
            "Start the explorer with one: ",
            h("code", null, `ioxide explore ${this.model.file} --sut SUT`),
          ),
          h("p", { class: "soft" }, "SUT is model:FILE, stdio:COMMAND, tcp:ADDR, or a name from ioxide.toml."),
        ),
      );
      return;
    }
    const tester = h(
      "select",
      { id: "tester" },
      testers.map((name) => h("option", { value: name }, name === "hunt" ? "hunt (the default)" : name)),
    );
    const runs = h("input", { id: "runs", type: "text", inputmode: "numeric", placeholder: "as many as it takes" });
    const seed = h("input", { id: "seed", type: "text", inputmode: "numeric", placeholder: "fresh" });
    const pace = h(
      "select",
      { id: "pace" },
      PACES.map(([name, ms]) => h("option", { value: ms }, name)),
    );
    pace.value = "50";
    pace.onchange = () => void this.act("pace", { pace_ms: Number(pace.value) });
    const going = h("input", { id: "going", type: "checkbox" });
    const start = h("button", { class: "primary", type: "submit" }, "start ", h("kbd", null, "Enter"));
    const pause = h("button", {
      type: "button",
      onclick: () => void this.act(this.view?.phase === "paused" ? "resume" : "pause", {}),
    });
    const stop = h(
      "button",
      { type: "button", onclick: () => void this.act("stop", {}) },
      "stop ",
      h("kbd", null, "x"),
    );
    this.buttons = { start, pause, stop };
    const number = (text: string): number | null => (/^\d+$/.test(text.trim()) ? Number(text.trim()) : null);
    const submit = (event: Event): void => {
      event.preventDefault();
      if (start.disabled) return;
      (document.activeElement as HTMLElement | null)?.blur();
      const wish = {
        tester: tester.value,
        runs: number(runs.value),
        seed: seed.value.trim() || null,
        keep_going: going.checked,
      };
      void this.act("start", { ...wish, pace_ms: Number(pace.value) });
    };
    const field = (name: string, input: HTMLElement): HTMLElement => h("label", null, h("span", null, name), input);
    fill(
      this.element,
      h(
        "form",
        { class: "card controls", onsubmit: submit, "aria-label": "campaign" },
        h("h2", null, "Testing ", h("code", null, excerpt(sut, 120))),
        h(
          "div",
          { class: "fields" },
          field("tester", tester),
          field("runs", runs),
          field("seed", seed),
          field("pace", pace),
        ),
        h("label", { class: "check" }, going, "continue after a failure"),
        h("div", { class: "row" }, start, pause, stop),
      ),
      this.status,
    );
  }

  /** Has something done; what comes of it is told by the events. */
  private async act(what: string, wish: object): Promise<void> {
    try {
      this.problem = "";
      this.tell(await post<LiveView>(`live/${what}`, wish));
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
      if (this.view !== null) this.tell(this.view);
    }
  }

  private listen(): void {
    if (this.events !== null) return;
    this.events = new EventSource("api/live/events");
    this.events.onmessage = ({ data }: MessageEvent<string>) => this.tell(JSON.parse(data) as LiveView);
  }

  private tell(view: LiveView): void {
    this.view = view;
    const idle = view.phase === "idle" || view.phase === "over";
    if (this.buttons !== null) {
      this.buttons.start.disabled = !idle;
      this.buttons.pause.disabled = view.phase !== "running" && view.phase !== "paused";
      this.buttons.stop.disabled = view.phase !== "running" && view.phase !== "paused";
      fill(this.buttons.pause, view.phase === "paused" ? "go on " : "pause ", h("kbd", null, "p"));
    }
    // A campaign that began before the model was edited is about another picture.
    const older = view.revision !== this.model.revision && view.phase !== "idle";
    const words: Record<string, string> = { ".": "never", m: "maybe", t: "taken" };
    const last = view.phase === "running" || view.phase === "paused" ? view.last[view.last.length - 1] : undefined;
    const now = new Set(last?.switches ?? []);
    this.picture.mark((number) => {
      if (older) return "never";
      const word = words[view.seen[number] ?? "."] ?? "never";
      return now.has(this.model.switches[number]?.label ?? "") ? `${word} last` : word;
    });
    fill(this.status, older && this.outdated(), this.figures(view, older), this.failures(view), this.last(view));
  }

  private outdated(): HTMLElement {
    const text = "This campaign tests the model as it was before it was edited; the next one tests the model shown.";
    return h("section", { class: "card problem" }, h("p", null, text));
  }

  private figures(view: LiveView, older: boolean): HTMLElement {
    const visible = this.model.switches.filter(({ kind }) => kind !== "internal").length;
    const taken = [...view.seen].filter((c) => c === "t").length;
    const maybe = [...view.seen].filter((c) => c === "m").length;
    const phase: Record<LiveView["phase"], string> = {
      idle: "Nothing was started yet",
      running: `Run ${view.run}${view.planned === null ? "" : ` of ${view.planned.toLocaleString("en")}`}`,
      paused: `Paused in run ${view.run}`,
      stopping: "Stopping …",
      over: view.failed > 0 ? "Ended: failed" : "Ended",
    };
    const bar = h("span", { class: "bar-ink" });
    bar.style.width = `${(100 * taken) / Math.max(1, visible)}%`;
    const outcomes = [
      view.passed > 0 && badge("pass", `${view.passed.toLocaleString("en")} passed`),
      view.failed > 0 && badge("fail", `${view.failed.toLocaleString("en")} failed`),
      view.other > 0 && badge("inconclusive", `${view.other.toLocaleString("en")} without`),
    ];
    return h(
      "section",
      { class: "card figures", "aria-label": "progress" },
      h("div", { class: "row" }, h("h2", { id: "phase" }, phase[view.phase]), outcomes),
      view.goal !== "" &&
        !["idle", "over"].includes(view.phase) &&
        h("p", { class: "soft" }, excerpt(view.goal, 160)),
      h("p", null, h("span", { class: "bar-rail" }, bar)),
      h(
        "p",
        { class: "soft", id: "covered" },
        older ? `${taken} transitions taken` : `${taken} of ${visible} transitions taken`,
        maybe > 0 && `, ${maybe} possibly`,
        `; ${view.steps.toLocaleString("en")} steps`,
        view.phase !== "idle" && `; seed ${view.seed}`,
      ),
      (view.message !== "" || this.problem !== "") &&
        h("p", { role: "alert", class: "trouble" }, excerpt(this.problem || view.message, 400)),
    );
  }

  private failures(view: LiveView): HTMLElement | false {
    if (view.failures.length === 0) return false;
    const rows = view.failures.map(({ record, run, steps, id }) =>
      h(
        "li",
        null,
        h("a", { href: `#/run/${record}/${run}/${steps}`, class: "failure" }, `step ${steps}: `, h("code", null, id)),
      ),
    );
    return h(
      "section",
      { class: "card forbidden", "aria-label": "failures" },
      h("h2", null, "Failures"),
      h("ol", null, rows),
    );
  }

  private last(view: LiveView): HTMLElement | false {
    if (view.last.length === 0) return false;
    const rows = [...view.last]
      .reverse()
      .map((step) =>
        h(
          "li",
          { class: `past ${step.kind}` },
          h("span", { class: "n" }, step.number),
          h("code", null, excerpt(step.text, 200)),
          h("span", { class: "soft" }, step.switches.join(", ")),
        ),
      );
    return h(
      "section",
      { class: "card history", "aria-label": "last steps" },
      h("h2", null, "Last steps"),
      h("ol", { class: "past-list", tabindex: 0, "aria-label": "last steps" }, rows),
    );
  }
}
