//! A path of choices followed: to a belief, to values for the next step, to a concrete trace.
//!
//! A path is a list of steps as people write them ([`read`]). The first may be `@R.N.K`: the first K steps of run N of
//! record R. A step that cannot be read or taken ends the walk; the steps before it stay taken.

use serde::{Deserialize, Serialize};

use ioxide_model::label::Label;

use super::{error_response, json_response};
use crate::Explorer;
use crate::http::ExplorerResponse;
use crate::recording::RecordPlace;
use crate::view::VERSION;
use crate::view::walk::{BaseView, ExplanationView, ForbiddenView, ProblemView, WalkView};
use crate::walk::symbolic::SwitchPath;
use crate::walk::{LabelJudgement, read};
use crate::worker::WorkerState;

/// The greatest length of a path that is followed. Chosen by feel: a path is followed from its start for every click.
const MAX_PATH_STEPS: usize = 20_000;
/// The number of different values offered at once. Chosen by feel, for one row of buttons.
const N_VALUES: usize = 6;

/// A path to follow, along labels or along switches.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathQuery {
    path: Vec<String>,
    /// True to walk along switches, with the path condition.
    #[serde(default)]
    symbolic: bool,
}

/// A path, and the choice at its end for which values are wanted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValuesQuery {
    path: Vec<String>,
    choice: usize,
    #[serde(default)]
    seed: u64,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct ValuesView {
    version: u32,
    /// Steps with the same message and different values.
    steps: Vec<String>,
}

/// Returns the end of the path.
pub fn walk_path(explorer: &Explorer, query: PathQuery) -> ExplorerResponse {
    with_path(explorer, query.path, move |worker, path| {
        if query.symbolic {
            json_response(&symbolic_walk_view(worker, path))
        } else {
            json_response(&walk_view(worker, path))
        }
    })
}

/// Returns different values for a choice at the end of the path.
pub fn example_values(explorer: &Explorer, query: ValuesQuery) -> ExplorerResponse {
    let ValuesQuery { path, choice, seed } = query;
    with_path(explorer, path, move |worker, path| {
        let end = follow_path(worker, path);
        if end.stopped.is_some() {
            return error_response(409, "there is no such path");
        }
        let choices = worker.walk.choices();
        let Some(choice) = choices.get(choice) else { return error_response(404, "there is no such choice") };
        let cx = &mut worker.walk.cx;
        let labels = choice.examples(cx, N_VALUES, seed);
        let steps = labels.iter().map(|label| read::label_text(cx.pool, cx.sts, label)).collect();
        json_response(&ValuesView { version: VERSION, steps })
    })
}

/// Returns labels that take the switches of a symbolic path.
pub fn path_witness(explorer: &Explorer, query: PathQuery) -> ExplorerResponse {
    with_path(explorer, query.path, |worker, path| {
        let cx = &mut worker.walk.cx;
        let (taken, stopped) = take_switches(cx, path);
        if stopped.is_some() {
            return error_response(409, "there is no such path");
        }
        match taken.witness(cx) {
            Ok(labels) => {
                let steps = labels.iter().map(|label| read::label_text(cx.pool, cx.sts, label)).collect();
                json_response(&ValuesView { version: VERSION, steps })
            }
            Err(why) => error_response(409, &why.to_string()),
        }
    })
}

fn with_path(
    explorer: &Explorer,
    path: Vec<String>,
    act: impl FnOnce(&mut WorkerState<'_>, &[String]) -> ExplorerResponse + Send + 'static,
) -> ExplorerResponse {
    if path.len() > MAX_PATH_STEPS {
        return error_response(400, &format!("a path of {} steps is too long", path.len()));
    }
    let answer = explorer.desk.run_on_worker(move |worker| act(worker, &path));
    answer.unwrap_or_else(|| error_response(500, "this is a bug in ioxide; please report the path"))
}

/// The end of a path of labels.
struct PathEnd {
    base: Option<BaseView>,
    /// The steps taken after those of the recorded run.
    path: Vec<String>,
    stopped: Option<PathStop>,
}

/// The reason why a path was not followed to its end.
enum PathStop {
    Problem(ProblemView),
    Forbidden(ForbiddenView),
}

fn walk_view(worker: &mut WorkerState<'_>, path: &[String]) -> WalkView {
    let PathEnd { base, path, stopped } = follow_path(worker, path);
    let revision = worker.revision;
    let mut view = WalkView { base, path, revision, ..WalkView::new(&mut worker.walk) };
    match stopped {
        Some(PathStop::Problem(problem)) => view.problem = Some(problem),
        Some(PathStop::Forbidden(forbidden)) => view.forbidden = Some(forbidden),
        None => (),
    }
    view
}

/// Walks along `path` up to its end, or to the first step that cannot be read or taken.
fn follow_path(worker: &mut WorkerState<'_>, path: &[String]) -> PathEnd {
    let mut end = PathEnd { base: None, path: Vec::new(), stopped: None };
    let mut first = 0;
    if let Some(text) = path.first().filter(|first| first.starts_with('@')) {
        first = 1;
        match begin_with_record(worker, text) {
            Ok((base, stopped)) => (end.base, end.stopped) = (Some(base), stopped),
            Err(problem) => end.stopped = Some(PathStop::Problem(problem)),
        }
        if end.stopped.is_some() {
            worker.walk.rewind(end.base.as_ref().map_or(0, |base| base.steps));
            return end;
        }
    }
    let mut position = end.base.as_ref().map_or(0, |base| base.steps);
    for (at, text) in path.iter().enumerate().skip(first) {
        match take_step(worker, position, at, text) {
            Ok(step) => end.path.push(step),
            Err(stopped) => {
                end.stopped = Some(stopped);
                break;
            }
        }
        position += 1;
    }
    worker.walk.rewind(position);
    end
}

/// Takes the step `text` after `position` steps, unless the walk has taken it already, and returns it written out.
fn take_step(
    worker: &mut WorkerState<'_>,
    position: usize,
    at: usize,
    text: &str,
) -> Result<String, PathStop> {
    let walk = &mut worker.walk;
    let problem =
        |why| PathStop::Problem(ProblemView { position: at, text: text.chars().take(200).collect(), why });
    let written = read::parse_complete_label(walk.cx.pool, walk.cx.sts, text);
    if let (Some(label), Some(taken)) = (&written, walk.steps().get(position))
        && taken.label == *label
    {
        return Ok(read::label_text(walk.cx.pool, walk.cx.sts, label));
    }
    walk.rewind(position);
    let label = match written {
        Some(label) => label,
        None => walk.parse_label(text).map_err(|why| problem(why.to_string()))?,
    };
    let step = read::label_text(walk.cx.pool, walk.cx.sts, &label);
    match walk.observe(label) {
        LabelJudgement::Allowed | LabelJudgement::Unspecified => Ok(step),
        LabelJudgement::Forbidden(why) => {
            let explanation = ExplanationView::new(&why);
            Err(PathStop::Forbidden(ForbiddenView { position: at, step, explanation }))
        }
    }
}

/// Walks along the recorded steps that `text` (`@R.N.K`) names, up to the first that is forbidden.
fn begin_with_record(
    worker: &mut WorkerState<'_>,
    text: &str,
) -> Result<(BaseView, Option<PathStop>), ProblemView> {
    let problem = |why: String| ProblemView { position: 0, text: text.chars().take(60).collect(), why };
    let numbers: Option<Vec<usize>> = text[1..].split('.').map(|number| number.parse().ok()).collect();
    let Some([record, run, steps]) = numbers.as_deref() else {
        return Err(problem("a recorded run is written `@RECORD.RUN.STEPS`".into()));
    };
    let labels = match worker.run_labels(RecordPlace { record: *record, run: *run }) {
        Ok(Some(labels)) => labels,
        Ok(None) => return Err(problem("there is no such recorded run".into())),
        Err(error) => return Err(problem(format!("the run does not fit the model: {error}"))),
    };
    let wanted = &labels[..(*steps).min(labels.len())];
    let (taken, why) = worker.walk.follow_labels(wanted);
    let base = BaseView { record: *record, run: *run, steps: taken };
    let stopped = why.map(|why| {
        let cx = &worker.walk.cx;
        let step = wanted.get(taken).map(|label: &Label| read::label_text(cx.pool, cx.sts, label));
        let explanation = ExplanationView::new(&why);
        PathStop::Forbidden(ForbiddenView { position: taken, step: step.unwrap_or_default(), explanation })
    });
    Ok((base, stopped))
}

fn symbolic_walk_view(worker: &mut WorkerState<'_>, path: &[String]) -> WalkView {
    let cx = &mut worker.walk.cx;
    let (taken, stopped) = take_switches(cx, path);
    WalkView { problem: stopped, revision: worker.revision, ..WalkView::from_switch_path(cx, &taken) }
}

/// Takes the switches that `names` lists, as far as they can be taken.
fn take_switches(cx: &mut ioxide_symex::Ctx<'_>, names: &[String]) -> (SwitchPath, Option<ProblemView>) {
    let mut path = SwitchPath::new(cx);
    for (position, text) in names.iter().enumerate() {
        let problem =
            |why: &str| ProblemView { position, text: text.chars().take(200).collect(), why: why.into() };
        let Some(switch) = cx.sts.switch_named(text) else {
            return (path, Some(problem("the model has no transition of this name")));
        };
        if !path.take_switch(cx, switch) {
            return (path, Some(problem("this transition cannot be taken here")));
        }
    }
    (path, None)
}
