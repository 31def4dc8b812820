//! Learning: resets and symbols with a perfect oracle, and until the right machine is found with complete suites.
//!
//! Machines are those of the folder in `IOXIDE_DATA` (`mealy/**/*.dot`), without which there is nothing to measure.
//! Every machine is played as a system, for suites with `--seeds` seeds. Time is that of the processor.
//!
//! With `--peers PYTHON` AALpy learns them too, where that Python has it.
//!
//! Also passive learning: machines from recorded runs alone, measured by the share of 1,000 unseen runs that they
//! explain wholly.

mod peers;

use std::io::{self, Write};
use std::ops::ControlFlow;

use ioxide_args::BenchArgs;
use ioxide_cli::exit::{CliError, ExitStatus};
use ioxide_cli::progress::ProgressLine;
use ioxide_fsm::mealy::{InputId, Mealy};
use ioxide_fsm::product::difference;
use ioxide_fsm::word::IoWord;
use ioxide_learn::learner::Learner;
use ioxide_learn::observer::{LearnError, LearningEffort, SystemObserver};
use ioxide_learn::oracle::{HypothesisTest, LearningStage, OracleSuites, learn};
use ioxide_learn::passive::{MergeOrder, merge_runs_by};
use ioxide_learn::played::PlayedMealy;
use ioxide_model::index::Idx;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value as Json, json};

use self::peers::Peers;
use super::fsm::machines;

/// The greatest number of extra states for which suites are generated: with two, every machine of the table is
/// learned with every seed.
const EXTRA: usize = 2;

/// The numbers of recorded runs from which machines are made; chosen by feel.
const RECORDED: [usize; 3] = [100, 1_000, 3_000];

/// The number of unseen runs with which these are checked: the standard error of a share is then at most 1.6 %.
const UNSEEN: usize = 1_000;

/// Measures every machine whose name contains `--only`.
pub fn run(args: &BenchArgs) -> Result<ExitStatus, CliError> {
    if machines::data().is_none() {
        return Err(CliError::new(ExitStatus::Nothing, "there are no machines to learn")
            .help("set `IOXIDE_DATA` to a folder with `mealy/**/*.dot`"));
    }
    let mut progress = ProgressLine::start();
    let mut out = io::stdout().lock();
    let (mut rows, mut flat) = (Vec::new(), Vec::new());
    let mut peers = args.peers.as_deref().map(Peers::start).transpose()?;
    for machine in machines::public_ones()? {
        if args.only.as_ref().is_some_and(|only| !machine.name.contains(only.as_str())) {
            continue;
        }
        progress.tick(|| format!("learning {}", machine.name));
        let system = machine.spec.to_mealy();
        let row = LearnRow::measure(&machine.name, &system, args.seeds)?;
        let peer = peers.as_mut().map(|peers| peers.learn(&machine.name, &system)).transpose()?;
        if args.json {
            flat.extend(row.flat());
            flat.extend(peer);
            rows.push(row.json());
        } else {
            writeln!(out, "{}", row.line())?;
            if let Some(peer) = peer {
                writeln!(out, "  AALpy KV, perfect oracle: {} / {}", peer["resets"], peer["symbols"])?;
            }
        }
    }
    if args.json {
        writeln!(
            out,
            "{}",
            json!({
                "version": 1, "bench": "learn", "seeds": args.seeds, "rows": flat, "machines": rows,
            })
        )?;
    }
    Ok(ExitStatus::Success)
}

/// The figures of one machine.
struct LearnRow {
    name: String,
    states: usize,
    inputs: usize,
    alone: LearnTrial,
    until_right: Vec<LearnTrial>,
    /// The number of seeds with which the machine was not found.
    missed: usize,
    /// The numbers of recorded runs, and the shares of unseen ones that the machines made from them explain: ours, and
    /// that of RPNI.
    passive: Vec<(usize, [f64; 2])>,
}

#[derive(Clone, Copy)]
struct LearnTrial {
    effort: LearningEffort,
    hypotheses: usize,
    seconds: f64,
}

impl LearnRow {
    /// Learns `system` with a perfect oracle once, and with suites for each seed.
    fn measure(name: &str, system: &Mealy, seeds: u64) -> Result<Self, CliError> {
        let alone = with_perfect_oracle(system).map_err(|_| broken(name))?;
        let mut until_right = Vec::new();
        for seed in 1..=seeds {
            until_right.extend(with_suites(system, seed).map_err(|_| broken(name))?);
        }
        let missed = usize::try_from(seeds).unwrap_or(usize::MAX) - until_right.len();
        let (states, inputs) = (system.n_states(), system.n_inputs());
        let passive = RECORDED.iter().map(|&runs| (runs, explained_shares(system, runs))).collect();
        Ok(Self { name: name.to_owned(), states, inputs, alone, until_right, missed, passive })
    }

    /// Returns the mean of a figure over the seeds that learned the right machine.
    fn mean(&self, of: impl Fn(&LearnTrial) -> f64) -> f64 {
        self.until_right.iter().map(of).sum::<f64>() / self.until_right.len().max(1) as f64
    }

    /// Returns the row as text.
    fn line(&self) -> String {
        let total = |trial: &LearnTrial| trial.effort.total() as f64;
        let missed = if self.missed > 0 { format!(", missed {} times", self.missed) } else { String::new() };
        format!(
            "{}: {} x {}; perfect oracle {} / {} ({} hypotheses, {:.3} s); until right {:.0} ({:.0} \
             hypotheses, {:.3} s){missed}; recorded {}",
            self.name,
            self.states,
            self.inputs,
            self.alone.effort.resets,
            self.alone.effort.symbols,
            self.alone.hypotheses,
            self.alone.seconds,
            self.mean(total),
            self.mean(|trial| trial.hypotheses as f64),
            self.mean(|trial| trial.seconds),
            self.passive
                .iter()
                .map(|(runs, [ours, rpni])| format!("{runs}: {ours:.3} (RPNI {rpni:.3})"))
                .collect::<Vec<_>>()
                .join(", "),
        )
    }

    /// Returns one row for each oracle: means over the seeds, and whether the machine was always found.
    fn flat(&self) -> [Json; 2] {
        let row = |oracle: &str, resets: f64, symbols: f64, seconds: f64, correct: bool| {
            json!({
                "machine": self.name, "oracle": oracle, "resets": resets.round(), "symbols": symbols.round(),
                "seconds": seconds, "correct": correct,
            })
        };
        let LearningEffort { resets, symbols } = self.alone.effort;
        let of = |part: fn(&LearningEffort) -> u64| self.mean(|trial| part(&trial.effort) as f64);
        [
            row("perfect", resets as f64, symbols as f64, self.alone.seconds, true),
            row(
                "suite",
                of(|effort| effort.resets),
                of(|effort| effort.symbols),
                self.mean(|trial| trial.seconds),
                self.missed == 0,
            ),
        ]
    }

    /// Returns the row for `--json`.
    fn json(&self) -> Json {
        let trial = |trial: &LearnTrial| {
            json!({
                "resets": trial.effort.resets, "symbols": trial.effort.symbols, "total": trial.effort.total(),
                "hypotheses": trial.hypotheses, "cpu_seconds": trial.seconds,
            })
        };
        let recorded = |(runs, [ours, rpni]): &(usize, [f64; 2])| {
            let (runs, explained) = (*runs, *ours);
            json!({ "runs": runs, "explained": explained, "rpni": rpni })
        };
        json!({
            "machine": self.name, "states": self.states, "inputs": self.inputs,
            "perfect_oracle": trial(&self.alone),
            "until_right": self.until_right.iter().map(trial).collect::<Vec<_>>(),
            "mean_total": self.mean(|trial| trial.effort.total() as f64), "missed": self.missed,
            "recorded": self.passive.iter().map(recorded).collect::<Vec<_>>(),
        })
    }
}

/// Returns the error about a machine that contradicts itself, which none can.
fn broken(name: &str) -> CliError {
    CliError::new(ExitStatus::Internal, format!("`{name}` contradicts itself"))
}

/// Learns `system` with an oracle that knows it; the run of a counterexample counts.
fn with_perfect_oracle(system: &Mealy) -> Result<LearnTrial, LearnError<std::convert::Infallible>> {
    let start = cpu_seconds();
    let mut observer = SystemObserver::new(PlayedMealy::new(system), system.n_inputs(), Vec::new());
    let mut learner = Learner::new(&observer.tree);
    let mut hypotheses = 0;
    loop {
        let machine = learner.hypothesis(&mut observer)?;
        hypotheses += 1;
        let Some(word) = difference(&machine, system) else { break };
        observer.ask_word(&word)?;
        learner.learn_from_counterexample(&mut observer, &word)?;
    }
    Ok(LearnTrial { effort: observer.effort, hypotheses, seconds: cpu_seconds() - start })
}

/// Learns `system` with complete suites until the hypothesis is right; returns `None` if it never is.
fn with_suites(
    system: &Mealy,
    seed: u64,
) -> Result<Option<LearnTrial>, LearnError<std::convert::Infallible>> {
    let start = cpu_seconds();
    let mut observer = SystemObserver::new(PlayedMealy::new(system), system.n_inputs(), Vec::new());
    let examination =
        HypothesisTest { suites: OracleSuites::Mixed, extra: Some(EXTRA), walks: 0, walk_length: 0, seed };
    let mut looking = 0.0;
    let mut is_right = |learner: &Learner, observer: &SystemObserver<_>| {
        let before = cpu_seconds();
        let is_right = learner.n_states() == system.n_states()
            && difference(&learner.machine(&observer.tree), system).is_none();
        looking += cpu_seconds() - before;
        is_right
    };
    let mut found = None;
    let learned = learn(&mut observer, &examination, &mut |stage, learner, observer| {
        let is_new = matches!(stage, LearningStage::Hypothesis { .. });
        if is_new && is_right(learner, observer) {
            found = Some(observer.effort);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })?;
    let seconds = cpu_seconds() - start - looking;
    Ok(found.map(|effort| LearnTrial { effort, hypotheses: learned.hypotheses, seconds }))
}

/// Returns the shares of unseen runs that machines made from `n` random runs explain, merged in our order and in that
/// of RPNI.
fn explained_shares(system: &Mealy, n: usize) -> [f64; 2] {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut run = || -> IoWord {
        let length = rng.random_range(5..=25);
        let word: Vec<InputId> =
            (0..length).map(|_| InputId::new(rng.random_range(0..system.n_inputs()))).collect();
        word.iter().copied().zip(system.run(&word)).collect()
    };
    let recorded: Vec<IoWord> = (0..n).map(|_| run()).collect();
    let unseen: Vec<IoWord> = (0..UNSEEN).map(|_| run()).collect();
    [MergeOrder::Evidence, MergeOrder::Canonical].map(|order| {
        // Runs of one machine do not contradict each other.
        merge_runs_by(system.n_inputs(), &recorded, order)
            .map_or(0.0, |made| made.count_agreeing(&unseen) as f64 / UNSEEN as f64)
    })
}

/// Returns the processor time of this process in seconds; 0 on systems without `/proc/self/schedstat`.
fn cpu_seconds() -> f64 {
    let Ok(text) = std::fs::read_to_string("/proc/self/schedstat") else { return 0.0 };
    let nanoseconds = text.split(' ').next().and_then(|first| first.parse::<f64>().ok());
    nanoseconds.unwrap_or(0.0) / 1e9
}
