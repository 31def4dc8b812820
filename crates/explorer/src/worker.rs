//! The worker: one thread that owns the model and the solver, and walks for all requests.
//!
//! Terms stay with their pool, and a solver with its thread, so requests are served one after the other. The walk of
//! the last request is kept: the next one mostly continues it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use ioxide_model::label::Label;
use ioxide_model::sts::Model;
use ioxide_record::format;
use ioxide_record::value::CodecError;
use ioxide_smt::solver::Solver;
use ioxide_symex::Ctx;

use crate::recording::{RecordPlace, Records};
use crate::walk::ModelWalk;

/// The number of terms by which a pool may grow before it is thrown away. Chosen by feel: terms are never freed, and
/// the explorer runs for days.
const MAX_TERMS: usize = 2_000_000;

type WorkerQuery = Box<dyn FnOnce(&mut WorkerState<'_>) + Send>;

/// A task for the worker thread.
enum WorkerJob {
    /// A question about the model.
    Query(WorkerQuery),
    /// Another model, of this revision of the text, takes the place of the present one.
    Replace(Arc<Model>, u32),
}

/// A handle to the worker thread.
pub struct ExplorerWorker {
    jobs: Sender<WorkerJob>,
}

/// The state of the worker thread, on which requests act.
pub struct WorkerState<'m> {
    /// The walk of the last request.
    pub walk: ModelWalk<'m>,
    /// The recorded runs.
    pub records: &'m Records,
    /// The revision of the text that the model belongs to.
    pub revision: u32,
    model: &'m Model,
    /// The labels of the recorded run that was requested last.
    known: Option<(RecordPlace, Arc<[Label]>)>,
}

impl ExplorerWorker {
    /// Starts the worker thread.
    #[must_use]
    pub fn start(model: Arc<Model>, solver: Box<dyn Solver>, records: Arc<Records>) -> Self {
        let (jobs, asked) = channel();
        // Without a thread every query gets an error.
        let _ = thread::Builder::new()
            .name("desk".into())
            .spawn(move || run_worker(model, solver, &records, &asked));
        Self { jobs }
    }

    /// Runs `act` in the worker thread and returns its result; `None` if it panicked or the thread could not be
    /// started.
    pub fn run_on_worker<T: Send + 'static>(
        &self,
        act: impl FnOnce(&mut WorkerState<'_>) -> T + Send + 'static,
    ) -> Option<T> {
        let (answer, answered) = channel();
        let query: WorkerQuery = Box::new(move |seat| {
            let _ = answer.send(act(seat));
        });
        self.jobs.send(WorkerJob::Query(query)).ok()?;
        answered.recv().ok()
    }

    /// Makes the thread walk through another model, of this revision of the text, from the next query on.
    pub(crate) fn replace_model(&self, model: Arc<Model>, revision: u32) {
        // Without a thread every query gets an error.
        let _ = self.jobs.send(WorkerJob::Replace(model, revision));
    }
}

fn run_worker(
    mut model: Arc<Model>,
    mut solver: Box<dyn Solver>,
    records: &Records,
    asked: &Receiver<WorkerJob>,
) {
    let mut revision = 0;
    loop {
        let mut own = Model::clone(&model);
        let walk = ModelWalk::new(Ctx::new(&mut own, &mut *solver));
        let mut seat = WorkerState { walk, records, revision, model: &model, known: None };
        let next = loop {
            let Ok(job) = asked.recv() else { return };
            let query = match job {
                WorkerJob::Query(query) => query,
                WorkerJob::Replace(model, revision) => break Some((model, revision)),
            };
            // A question that breaks something must not take the next ones with it.
            let is_sound = catch_unwind(AssertUnwindSafe(|| query(&mut seat))).is_ok();
            if !is_sound || seat.walk.cx.pool.len() > model.pool.len() + MAX_TERMS {
                break None;
            }
        };
        if let Some(next) = next {
            (model, revision) = next;
        }
    }
}

impl WorkerState<'_> {
    /// Returns the labels of a recorded run; `None` if there is no such run.
    ///
    /// # Errors
    /// If the model lacks a message of the run.
    pub fn run_labels(&mut self, place: RecordPlace) -> Result<Option<Arc<[Label]>>, CodecError> {
        if let Some((known, labels)) = &self.known
            && *known == place
        {
            return Ok(Some(Arc::clone(labels)));
        }
        let Some(run) = self.records.get_run(place) else { return Ok(None) };
        let mut labels = Vec::with_capacity(run.steps.len());
        for step in &run.steps {
            labels.extend(format::label(self.model, &step.label)?);
        }
        let labels: Arc<[Label]> = labels.into();
        self.known = Some((place, Arc::clone(&labels)));
        Ok(Some(labels))
    }
}
