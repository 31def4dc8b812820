// What the server tells of a system that is learned. The shapes are those of `view/learning.rs` and `view/hypothesis.rs`.

export interface Learning {
  system: string;
  model: string;
  kind: string;
  inputs: number;
  suite: string;
  most_extra: number;
  phase: "asking" | "testing" | "walking" | "drafting" | "timers" | "over";
  extra: number;
  done: number;
  of: number;
  left_ms: number | null;
  hypotheses: number;
  states: number;
  resets: number;
  symbols: number;
  per_second: number;
  elapsed_ms: number;
  guarantee: string;
  picture: number;
  counterexample: { hypothesis: number; steps: { input: string; answer: string }[]; believed: string } | null;
  disagreement: string[];
  notes: string[];
  end: { has_model: boolean; lines: string[]; out: string | null } | null;
}

export interface Hypothesis {
  picture: number;
  hypothesis: number;
  before: number | null;
  svg: string;
  missing: string;
  states: number;
  moves: number;
  new_states: string[];
  n_new_moves: number;
  new_moves: { from: string; to: string; text: string }[];
  n_gone: number;
}
