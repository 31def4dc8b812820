use ioxide_classes::Account;
use proptest::prelude::*;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest, prop_state_machine};

#[derive(Clone, Debug)]
enum Call {
    Deposit(i64),
    Withdraw(i64),
}

#[derive(Clone, Debug)]
struct AccountModel {
    cents: i64,
    refusals: u8,
    answer: &'static str,
}

impl ReferenceStateMachine for AccountModel {
    type State = Self;
    type Transition = Call;

    fn init_state() -> BoxedStrategy<Self> {
        Just(Self { cents: 0, refusals: 0, answer: "" }).boxed()
    }

    fn transitions(_: &Self) -> BoxedStrategy<Call> {
        let amounts = || 0..=100_000_i64;
        prop_oneof![amounts().prop_map(Call::Deposit), amounts().prop_map(Call::Withdraw)].boxed()
    }

    fn apply(mut state: Self, call: &Call) -> Self {
        match call {
            Call::Deposit(amount) => state.cents += amount,
            Call::Withdraw(_) if state.refusals == 3 => state.answer = "frozen",
            Call::Withdraw(amount) if state.cents - amount < -10_000 => {
                state.refusals += 1;
                state.answer = "refused";
            }
            Call::Withdraw(amount) => {
                state.cents -= amount;
                state.refusals = 0;
                state.answer = "paid";
            }
        }
        state
    }
}

struct AccountTest;

impl StateMachineTest for AccountTest {
    type SystemUnderTest = Account;
    type Reference = AccountModel;

    fn init_test(_: &AccountModel) -> Account {
        Account::default()
    }

    fn apply(mut account: Account, state: &AccountModel, call: Call) -> Account {
        match call {
            Call::Deposit(amount) => assert_eq!(account.deposit(amount), state.cents),
            Call::Withdraw(amount) => assert_eq!(account.withdraw(amount), state.answer),
        }
        account
    }
}

prop_state_machine! {
    #![proptest_config(crate::settings())]
    #[test]
    fn test_account(sequential 1..50 => AccountTest);
}
