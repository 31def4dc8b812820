use super::*;
use crate::plan::{CampaignPlan, UnitNames};
use crate::rounds::UnitRounds;

/// An engine whose workers die before they have written anything.
#[derive(Default)]
struct DeadlyEngine {
    sent: u64,
    parts: Vec<PathBuf>,
    dead: Vec<(u64, WorkerEnd)>,
}

impl CampaignEngine for DeadlyEngine {
    fn submit(&mut self, order: WorkOrder) -> Result<(), EngineError> {
        self.sent += 1;
        self.parts.push(order.part);
        self.dead.push((order.id, WorkerEnd::Died("signal 9".into())));
        Ok(())
    }

    fn poll(&mut self, _wait: Duration) -> Result<Vec<(u64, WorkerEnd)>, EngineError> {
        Ok(std::mem::take(&mut self.dead))
    }

    fn stop(&mut self) {}

    fn kill(&mut self) {}
}

/// An observer with one wish.
struct FixedRequest(ObserverRequest);

impl CampaignObserver for FixedRequest {
    fn progress(&mut self, _tally: &CampaignTally, _elapsed: Duration) -> ObserverRequest {
        self.0
    }

    fn report_part(&mut self, _part: &ScannedPart) -> ObserverRequest {
        ObserverRequest::GoOn
    }
}

fn opened_in(dir: &Path, units: u64) -> CampaignDrive {
    let plan = CampaignPlan {
        args: vec!["test".into()],
        model: "m".into(),
        tool: "0".into(),
        units: UnitNames::Numbered { word: "run", count: units },
        rounds: UnitRounds::ONE,
        system: None,
    };
    let manifest = Manifest::new(&plan, &UnitSet::range(0, units));
    CampaignDrive::open(dir, &manifest, ScheduleConfig::default(), Vec::new()).unwrap()
}

/// Defect: only units that a part had named were noted as tried, so a campaign that went on forgot the rest.
#[test]
fn tries_of_a_unit_whose_workers_left_no_part_are_remembered() {
    let dir = tempfile::tempdir().unwrap();
    for sent in [3, 0] {
        let mut drive = opened_in(dir.path(), 1);
        drive.request_units(&UnitSet::range(0, 1), None);
        let mut engine = DeadlyEngine::default();
        let ended = drive.run(&mut engine, &mut FixedRequest(ObserverRequest::GoOn)).unwrap();
        assert_eq!(engine.sent, sent);
        assert_eq!(ended.quarantined[&0], QuarantinedUnit { tries: 3, why: "signal 9".into() });
        assert!(!ended.is_stopped);
    }
}

/// Defect: the wish to stop after a unit was heard with a part only.
#[test]
fn an_observer_may_wish_to_stop_after_a_unit_at_any_time() {
    let dir = tempfile::tempdir().unwrap();
    let mut drive = opened_in(dir.path(), 9);
    drive.request_units(&UnitSet::range(0, 9), None);
    let ended =
        drive.run(&mut DeadlyEngine::default(), &mut FixedRequest(ObserverRequest::StopAfter(1))).unwrap();
    assert_eq!(ended.quarantined.keys().copied().collect::<Vec<_>>(), [0, 1]);
    assert_eq!(ended.last, Some(1));
}

/// Defect: the folder of a worker that had not written its manifest yet was given to another worker.
#[test]
fn the_folder_of_a_worker_that_has_just_begun_is_given_to_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let begun = dir.path().join("parts/7");
    fs::create_dir_all(&begun).unwrap();
    let mut drive = opened_in(dir.path(), 1);
    drive.request_units(&UnitSet::range(0, 1), None);
    let mut engine = DeadlyEngine::default();
    drive.run(&mut engine, &mut FixedRequest(ObserverRequest::GoOn)).unwrap();
    let numbers: Vec<u64> = engine.parts.iter().map(|part| part_number(part)).collect();
    assert!(!numbers.is_empty() && numbers.iter().all(|number| *number > 7), "{numbers:?}");
}
