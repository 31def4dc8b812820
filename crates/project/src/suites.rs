//! `[project]` and `[suite.NAME]`: what `ioxide test` runs without arguments, or by the name of a suite.

use crate::error::ProjectError;
use crate::table::ProjectTable;

/// A campaign that the project file describes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestSuite {
    /// The name; empty for what `[project]` alone describes.
    pub name: String,
    /// The model file; `None` if neither the suite nor `[project]` names one.
    pub model: Option<String>,
    /// The options of `ioxide test`, by key: `sut`, `tester`, `runs` and so on.
    pub options: Vec<(&'static str, String)>,
    /// More arguments of `ioxide test`.
    pub args: Vec<String>,
}

/// The keys that are options of `ioxide test` of the same name.
pub const SUITE_OPTIONS: [&str; 8] = ["sut", "tester", "runs", "steps", "for", "seed", "until", "report"];

/// Reads the suites: those of the tables `[suite.NAME]` in the order of the file, each with what `[project]` says where
/// it says nothing; without such tables, one without a name if there is a table `[project]`.
pub(crate) fn read_suites(top: &ProjectTable<'_>) -> Result<Vec<TestSuite>, ProjectError> {
    let project = match top.table("project")? {
        Some(table) => Some(read_suite(String::new(), &table)?),
        None => None,
    };
    let Some(tables) = top.table("suite")? else { return Ok(project.into_iter().collect()) };
    let mut suites = Vec::new();
    for name in tables.keys() {
        let Some(table) = tables.table(name)? else { continue };
        let own = read_suite(name.to_owned(), &table)?;
        suites.push(own.with_defaults(project.as_ref()));
    }
    Ok(suites)
}

fn read_suite(name: String, table: &ProjectTable<'_>) -> Result<TestSuite, ProjectError> {
    table.reject_unknown_keys(&[&["model", "args"], &SUITE_OPTIONS[..]].concat())?;
    let mut options = Vec::new();
    for key in SUITE_OPTIONS {
        match &table.words(key)?[..] {
            [] => (),
            [value] => options.push((key, value.clone())),
            _ => return Err(table.wrong_value(key, "expected one value")),
        }
    }
    Ok(TestSuite { name, model: table.text("model")?, options, args: table.words("args")? })
}

impl TestSuite {
    /// Returns the value of an option.
    #[must_use]
    pub fn option(&self, key: &str) -> Option<&str> {
        self.options.iter().find(|(known, _)| *known == key).map(|(_, value)| &**value)
    }

    /// Adds what `project` says and this suite does not.
    fn with_defaults(mut self, project: Option<&Self>) -> Self {
        let Some(project) = project else { return self };
        self.model = self.model.or_else(|| project.model.clone());
        for (key, value) in &project.options {
            if self.option(key).is_none() {
                self.options.push((key, value.clone()));
            }
        }
        if self.args.is_empty() {
            self.args.clone_from(&project.args);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use crate::Project;

    fn suites(text: &str) -> Result<Vec<String>, String> {
        let project = Project::parse(text).map_err(|error| error.to_string())?;
        let suites = project.suites().map_err(|error| error.to_string())?;
        Ok(suites
            .iter()
            .map(|suite| {
                let options: Vec<String> =
                    suite.options.iter().map(|(key, value)| format!("{key}={value}")).collect();
                format!("{}: {:?} {} {}", suite.name, suite.model, options.join(" "), suite.args.join(" "))
            })
            .collect())
    }

    #[test]
    fn suites_take_from_the_project_what_they_do_not_say() {
        assert_eq!(suites("").expect("no suites"), Vec::<String>::new());
        let project = "[project]\nmodel = \"a.iox\"\nsut = \"a\"\nseed = 3\nargs = [\"--keep-going\"]\n";
        assert_eq!(suites(project).expect("one"), [": Some(\"a.iox\") sut=a seed=3 --keep-going"]);
        let more =
            format!("{project}[suite.smoke]\nfor = \"5s\"\n[suite.long]\nsut = \"b\"\nargs = [\"-v\"]\n");
        assert_eq!(
            suites(&more).expect("two"),
            [
                "smoke: Some(\"a.iox\") for=5s sut=a seed=3 --keep-going",
                "long: Some(\"a.iox\") sut=b seed=3 -v"
            ]
        );
    }

    #[test]
    fn mistakes_have_their_line() {
        let error = suites("[suite.smoke]\nmodle = \"a\"\n").expect_err("unknown");
        assert!(error.contains("ioxide.toml:2") && error.contains("modle"), "{error}");
        let error = suites("[project]\nsut = [\"a\", \"b\"]\n").expect_err("two values");
        assert!(error.contains("`project.sut`: expected one value"), "{error}");
    }
}
