use ioxide::{GivenInput, InProcess, IoxInput, IoxOutput, ModelFile, Outputs};
use ioxide_classes::Account;

#[derive(IoxInput)]
enum Input {
    Deposit { amount: i64 },
    Withdraw { amount: i64 },
}

#[derive(IoxOutput)]
enum Output {
    Balance { now: i64 },
    Answer { word: String },
}

struct TestedAccount(Account);

impl InProcess for TestedAccount {
    fn take(&mut self, input: &GivenInput<'_>, outputs: &mut Outputs) {
        outputs.send(match input.read() {
            Input::Deposit { amount } => Output::Balance { now: self.0.deposit(amount) },
            Input::Withdraw { amount } => Output::Answer { word: self.0.withdraw(amount).to_owned() },
        });
    }
}

#[test]
fn test_account() {
    ioxide::check(&ModelFile::open("../account.iox"), || TestedAccount(Account::default())).run();
}
