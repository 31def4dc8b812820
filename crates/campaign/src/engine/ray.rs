//! Workers as tasks of a Ray cluster.
//!
//! Ray speaks Python, so a small program in the package `ioxide_adapter` stands in between: orders go in and ends come
//! out, one JSON value per line. A task runs the program in a folder of its node and gives back the files of its part;
//! they are put in place here, whole. So the nodes need no files in common with this machine.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::{CampaignEngine, EngineError, WorkOrder, WorkerEnd};
use crate::recipe;

/// The time that a cluster has for its first answer. Chosen by feel: a cluster may have to start machines.
const FIRST_ANSWER_TIMEOUT: Duration = Duration::from_secs(120);

/// Tasks of a cluster.
pub struct RayEngine {
    child: Child,
    orders: Option<ChildStdin>,
    told: Receiver<Json>,
    running: usize,
    /// The description of the cluster, for people.
    pub cluster: String,
}

impl RayEngine {
    /// Joins the cluster of `settings`, or starts one of `workers` on this machine.
    ///
    /// # Errors
    /// If there is no Python with Ray, or no cluster.
    pub fn join(settings: &recipe::RayRecipe, program: PathBuf, workers: usize) -> Result<Self, EngineError> {
        if settings.address.is_none() && !settings.start {
            return Err(EngineError::Unsaid(
                "Ray: no cluster is named: give the `address` of its head under [ray]; `start = true` starts \
                 one here, which listens on all interfaces of this machine",
            ));
        }
        let python = settings.python.clone().unwrap_or_else(|| "python3".into());
        let mut command = Command::new(&python);
        command.args(["-m", "ioxide_adapter.ray_engine"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let start = |error| EngineError::Start { program: python.clone(), error };
        let mut child = command.spawn().map_err(start)?;
        let (orders, answers) = (child.stdin.take(), child.stdout.take());
        let (sender, told) = mpsc::channel();
        thread::spawn(move || {
            let lines = answers.map(|answers| BufReader::new(answers).lines()).into_iter().flatten();
            for line in lines.map_while(Result::ok) {
                let Ok(told) = serde_json::from_str(&line) else { continue };
                if sender.send(told).is_err() {
                    return;
                }
            }
        });
        let mut ray = Self { child, orders, told, running: 0, cluster: String::new() };
        let program = settings.program.clone().unwrap_or_else(|| program.display().to_string());
        ray.send_message(&json!({
            "hello": 1, "address": settings.address, "working_dir": settings.working_dir, "program": program,
            "cwd": std::env::current_dir().unwrap_or_default(), "cpus": settings.cpus.unwrap_or(1),
            "workers": workers,
        }))?;
        let ready = ray.told.recv_timeout(FIRST_ANSWER_TIMEOUT).ok();
        match ready.as_ref().and_then(|ready| ready.get("ready")).and_then(Json::as_str) {
            Some(cluster) => ray.cluster = cluster.to_owned(),
            None => {
                let why = ready.as_ref().and_then(|told| told.get("error")).and_then(Json::as_str);
                let why =
                    why.unwrap_or("no answer; is the package `ioxide_adapter` with Ray there?").to_owned();
                return Err(EngineError::Refused(format!("Ray: {why}")));
            }
        }
        Ok(ray)
    }

    fn send_message(&mut self, what: &Json) -> Result<(), EngineError> {
        let gone = || EngineError::Refused("Ray: the engine has ended".into());
        let orders = self.orders.as_mut().ok_or_else(gone)?;
        writeln!(orders, "{what}").and_then(|()| orders.flush()).map_err(|_| gone())
    }

    /// Reads a line of the Ray driver: the end of a worker with its batch, `None` for other news.
    fn read_line(&mut self, told: &Json) -> Result<Option<(u64, WorkerEnd)>, EngineError> {
        if let Some(why) = told.get("error").and_then(Json::as_str) {
            return Err(EngineError::Refused(format!("Ray: {why}")));
        }
        let Some(id) = told.get("ended").and_then(Json::as_u64) else { return Ok(None) };
        self.running = self.running.saturating_sub(1);
        let code = told.get("code").and_then(Json::as_i64).and_then(|code| i32::try_from(code).ok());
        let how = told.get("died").and_then(Json::as_str).unwrap_or("for an unknown reason");
        Ok(Some((id, code.map_or_else(|| WorkerEnd::Died(how.to_owned()), WorkerEnd::Exit))))
    }
}

impl CampaignEngine for RayEngine {
    fn submit(&mut self, order: WorkOrder) -> Result<(), EngineError> {
        let env: serde_json::Map<String, Json> =
            order.env.iter().map(|(name, value)| (name.clone(), Json::from(value.as_str()))).collect();
        let mut files = serde_json::Map::new();
        for path in &order.files {
            let text = std::fs::read_to_string(path).map_err(EngineError::at_file(path))?;
            files.insert(path.display().to_string(), Json::from(text));
        }
        self.running += 1;
        let (part, log) = (order.part.clone(), order.log());
        self.send_message(&json!({
            "submit": order.id, "args": order.args, "env": env, "part": part, "log": log, "files": files,
        }))
    }

    fn poll(&mut self, wait: Duration) -> Result<Vec<(u64, WorkerEnd)>, EngineError> {
        if self.running == 0 {
            return Ok(Vec::new());
        }
        let first = match self.told.recv_timeout(wait) {
            Ok(told) => told,
            Err(RecvTimeoutError::Timeout) => return Ok(Vec::new()),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(EngineError::Refused("Ray: the engine has ended".into()));
            }
        };
        let rest: Vec<Json> = self.told.try_iter().collect();
        let told = std::iter::once(first).chain(rest);
        let heard = told.map(|told| self.read_line(&told)).collect::<Result<Vec<_>, _>>()?;
        Ok(heard.into_iter().flatten().collect())
    }

    fn stop(&mut self) {
        // An engine that is gone has stopped.
        let _ = self.send_message(&json!({ "stop": true }));
    }

    fn kill(&mut self) {
        let _ = self.send_message(&json!({ "kill": true }));
    }
}

impl Drop for RayEngine {
    /// Closes the input of the process, upon which it ends; kills it if that takes longer than ten seconds.
    fn drop(&mut self) {
        self.orders = None;
        // A hundred looks, a tenth of a second apart: the ten seconds above. No reason for the number is
        // recorded.
        for _ in 0..100 {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(100));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
