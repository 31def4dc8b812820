//! `ioxide demo`: the main job on what ships with ioxide.
//!
//! The bounded retransmission protocol: a correct sender passes, a sender that flips the
//! alternating bit on retransmission is caught, and the failing run is made small.

use std::io::{self, Write};
use std::path::Path;

use ioxide_campaign::whole_file::{FileReaders, write_whole};
use ioxide_lang::{LoadOptions, load};
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_run::campaign::{CampaignConfig, CampaignOutcome};
use ioxide_testgen::tester::random::{RandomConfig, RandomTester};
use ioxide_wire::adapter::ClockKind;
use serde_json::json;

use super::test::outcome_json;
use crate::args::{DemoArgs, SolverArgs};
use crate::exit::{CliError, ExitStatus};
use crate::html;
use crate::record_folder::RecordFolder;
use crate::session::{CampaignSession, EventTimes, ShowResults};
use crate::solver::SolverRequest;
use crate::system::SystemUnderTest;
use crate::write;

const SPEC: &str = include_str!("../../models/brp/spec.iox");
const FAULTY: &str = include_str!("../../models/brp/m3.iox");

/// Tests both systems; succeeds if the correct one passes and the faulty one is caught.
pub fn run(args: &DemoArgs) -> Result<ExitStatus, CliError> {
    let mut out = io::stdout().lock();
    if !args.json {
        writeln!(
            out,
            "The model: a sender that splits a file into three frames, repeats a frame that is not"
        )?;
        writeln!(out, "acknowledged, and reports how it ended (examples/brp/spec.iox).\n")?;
        writeln!(out, "1. A correct system.")?;
    }
    let correct = test_system(args, SPEC, "a correct sender", None)?;
    if !args.json {
        writeln!(
            out,
            "\n2. A system with a planted bug: it flips the alternating bit when it repeats a frame."
        )?;
    }
    let scratch = tempfile::tempdir()?;
    let folder = RecordFolder::open(&scratch.path().to_string_lossy())?;
    let faulty = test_system(args, FAULTY, "a faulty sender (examples/brp/m3.iox)", Some(&folder))?;
    let page = report(&folder, &args.html);
    let good = correct.1.counts.failed == 0 && correct.1.counts.passed > 0 && faulty.1.counts.failed > 0;
    if args.json {
        let spec = load_demo(SPEC)?;
        let result = json!({
            "version": 1,
            "correct": outcome_json(&spec, &correct.0, &correct.1),
            "faulty": outcome_json(&spec, &faulty.0, &faulty.1),
        });
        writeln!(out, "{result}")?;
    } else if good {
        match page {
            Ok(()) => writeln!(out, "\nThe second part as a page, to be opened in a browser: {}", args.html)?,
            Err(stop) => eprintln!("note: no HTML report: {}", stop.message()),
        }
        writeln!(
            out,
            "The correct system passed, the bug was found. Next: `ioxide step examples/brp/spec.iox`,"
        )?;
        writeln!(out, "or `ioxide test examples/brp/spec.iox --sut model:examples/brp/m5.iox`.")?;
    }
    if !good {
        return Err(CliError::new(
            ExitStatus::Inconclusive,
            "the demo did not show what it should; try another --seed",
        ));
    }
    Ok(ExitStatus::Success)
}

/// Writes the page of the campaign recorded in `folder`; the record itself is not kept.
fn report(folder: &RecordFolder, file: &str) -> Result<(), CliError> {
    let (sources, model) = load_model(SPEC)?;
    let path = folder.record().display().to_string();
    let mut page = html::of_record(&path, &sources, &model, &SolverArgs::default())?;
    page.record.clear();
    write_whole(Path::new(file), FileReaders::Usual, |out| page.write(out))
        .map_err(|error| write::write_error(file, &error))
}

fn test_system(
    args: &DemoArgs,
    sut: &str,
    name: &str,
    record: Option<&RecordFolder>,
) -> Result<(CampaignConfig, CampaignOutcome), CliError> {
    let mut tester = RandomTester::new(RandomConfig::default(), args.seed);
    let config = CampaignConfig {
        runs: 20,
        seed: args.seed,
        tester: "random tester".into(),
        sut: name.into(),
        file: "examples/brp/spec.iox".into(),
        ..CampaignConfig::default()
    };
    let solver = SolverArgs::default();
    let session = CampaignSession {
        spec: load_demo(SPEC)?,
        sut: SystemUnderTest::Model(Box::new(load_demo(sut)?)),
        clock: ClockKind::default(),
        testers: vec![&mut tester],
        solver: SolverRequest::endless(&solver),
        show: if args.json { ShowResults::Nothing } else { ShowResults::People },
        record,
        times: EventTimes::Told,
    };
    let outcome = session.run(&config)?;
    Ok((config, outcome))
}

fn load_demo(text: &str) -> Result<Model, CliError> {
    Ok(load_model(text)?.1)
}

fn load_model(text: &str) -> Result<(Sources, Model), CliError> {
    let mut sources = Sources::new();
    let file = sources.add("examples/brp/spec.iox", text);
    let loaded = load(&sources, file, &LoadOptions::default());
    let broken = || CliError::new(ExitStatus::Internal, "a model of the demo does not load");
    Ok((sources, loaded.model.ok_or_else(broken)?))
}
