/// The particle counter without hidden steps and without choice: after every trace it is in one state.
///
/// As large as the model of [AT15] sec. 5, with 69 inputs and 20 outputs; that model is not public, and this one is made
/// from `particle-counter.as`. What happens inside is seen as an output when it happens: a change of mode ends with
/// `arrived` or `failed`, a check with `finished`, a round with `round_over`. Where the hardware had a choice, the choice
/// is between outputs, or is made.
def DeterministicParticleCounter {
    types {
        Mode = [Off | WarmUp | Pause | Standby | Measure | Integral | ZeroCheck | ResponseCheck | LeakTest | Purge
                | Failure | Service]
        Control = [Manual | Remote]
        Fault = [PumpFault | LaserFault | HeaterFault]
        Unit = [NoUnit | Pump | Laser | Heater | Valve]
        /// How far a check or an integral measurement is.
        Progress = [Idle | Running | Passed | Missed]
        /// What a number in an answer may be.
        Number = [0..MAX_COUNT]
        Reason = [NotInControl | WrongMode | BadValue | WrongCode]
        Dilution = [1..MAX_DILUTION]
        Rounds = [0..MAX_ROUNDS]
        Count = [0..MAX_COUNT]
        /// What one may try to set: a little more than what fits.
        AnyDilution = [0..MAX_DILUTION + 1]
        AnyFlow = [0..MAX_FLOW]
        Code = [0..MAX_CODE]
        /// What the device owes to whom asked last.
        Answer = [Silent | Accepted | Busy | Refused(why: Reason) | Farewell | Yes | No | TellStatus | TellMode | TellControl
                  | TellProgress | TellErrors | TellErrorCount | TellDilution | TellFlow | TellSettings
                  | TellDilutionRange | TellFlowRange | TellConcentration | TellRawCount | TellIntegral | TellRounds
                  | TellCheck | TellIdentity | TellVersion | TellUnit | NoValue]
    }
    constants {
        MAX_DILUTION = 2000
        MAX_FLOW = 5
        MAX_ROUNDS = 2
        MAX_COUNT = 10000
        DEFAULT_DILUTION: Dilution = 1
        /// The pump has one speed.
        FLOW: AnyFlow = 2
        MAX_CODE = 99
        SERVICE_CODE = 42
        IDENTITY = 17
    }
    functions {
        /// Modes that begin from standby and end there.
        fn is_work(m: Mode) -> Bool =
            match m {
                Measure => True, Integral => True, ZeroCheck => True, ResponseCheck => True, LeakTest => True,
                Purge => True, _ => False,
            }
        /// Work that ends by itself, with a result.
        fn has_result(m: Mode) -> Bool =
            match m { Integral => True, ZeroCheck => True, ResponseCheck => True, LeakTest => True, _ => False }
        fn pump_runs(m: Mode) -> Bool = is_work(m) && m != LeakTest
        fn laser_is_on(m: Mode) -> Bool = is_work(m) && m != Purge
    }
    state {
        mode: Mode
        /// Where it is going: another mode while it is on its way.
        going: Mode
        control: Control
        answer: Answer
        progress: Progress
        errors: list<Fault>
        dilution: Dilution
        rounds: Rounds
        unit: Unit
    }
    init {
        mode := Off
        going := Off
        control := Manual
        answer := Silent
        progress := Idle
        errors := []
        dilution := DEFAULT_DILUTION
        rounds := 0
        unit := NoUnit
    }
    actions {
        // The panel ------------------------------------------------------------------------------------------------

        ?power_on()
            if mode == Off && answer == Silent
            then { mode := WarmUp  going := WarmUp }
        ?power_off()
            if mode != Off && answer == Silent
            then {
                answer := Farewell
                mode := Off  going := Off  control := Manual  progress := Idle
                errors := []  rounds := 0  unit := NoUnit
                dilution := DEFAULT_DILUTION
            }
        !powered_down() if answer == Farewell then { answer := Silent }

        ?key_remote()
            if mode != Off && answer == Silent
            then {
                if mode == WarmUp || mode == Failure then { answer := Refused(why: WrongMode) }
                else { control := Remote  answer := Accepted }
            }
        ?key_manual() if mode != Off && answer == Silent then { control := Manual  answer := Accepted }
        ?key_pause()
            if mode != Off && answer == Silent
            then {
                if control != Manual then { answer := Refused(why: NotInControl) }
                else if going != mode then { answer := Busy }
                else if mode == Standby then { going := Pause  answer := Accepted }
                else { answer := Refused(why: WrongMode) }
            }
        ?key_standby()
            if mode != Off && answer == Silent
            then {
                if control != Manual then { answer := Refused(why: NotInControl) }
                else if going != mode then { answer := Busy }
                else if mode == Pause || is_work(mode) then {
                    going := Standby
                    // What was measured is gone.
                    progress := Idle  rounds := 0
                    answer := Accepted
                }
                else { answer := Refused(why: WrongMode) }
            }
        ?key_measure()
            if mode != Off && answer == Silent
            then {
                if control != Manual then { answer := Refused(why: NotInControl) }
                else if going != mode then { answer := Busy }
                else if mode == Standby then { going := Measure  answer := Accepted }
                else { answer := Refused(why: WrongMode) }
            }
        ?key_purge()
            if mode != Off && answer == Silent
            then {
                if control != Manual then { answer := Refused(why: NotInControl) }
                else if going != mode then { answer := Busy }
                else if mode == Standby then { going := Purge  answer := Accepted }
                else { answer := Refused(why: WrongMode) }
            }
        /// The red key works whoever is in control, and takes control.
        ?key_stop()
            if mode != Off && answer == Silent
            then {
                control := Manual
                if is_work(mode) then { going := Standby }
                else if is_work(going) then { going := mode }
                progress := Idle  rounds := 0
                answer := Accepted
            }
        ?key_acknowledge()
            if mode != Off && answer == Silent
            then {
                if control != Manual then { answer := Refused(why: NotInControl) }
                else if mode == Failure && !errors.is_empty() then {
                    errors := errors.drop(1)  answer := Accepted
                }
                else { answer := Refused(why: WrongMode) }
            }

        // The remote line: modes -----------------------------------------------------------------------------------

        ?go_remote()
            if mode != Off && answer == Silent
            then {
                if mode == WarmUp || mode == Failure then { answer := Refused(why: WrongMode) }
                else { control := Remote  answer := Accepted }
            }
        ?go_manual()
            if mode != Off && answer == Silent
            then {
                if control == Manual then { answer := Refused(why: NotInControl) }
                else { control := Manual  answer := Accepted }
            }
        ?go_pause()
            if mode != Off && answer == Silent
            then {
                if control != Remote then { answer := Refused(why: NotInControl) }
                else if going != mode then { answer := Busy }
                else if mode == Standby then { going := Pause  answer := Accepted }
                else { answer := Refused(why: WrongMode) }
            }
        ?go_standby()
            if mode != Off && answer == Silent
            then {
                if control != Remote then { answer := Refused(why: NotInControl) }
                else if going != mode then { answer := Busy }
                else if mode == Pause || is_work(mode) then {
                    going := Standby
                    progress := Idle  rounds := 0
                    answer := Accepted
                }
                else { answer := Refused(why: WrongMode) }
            }
        ?start_measurement()
            if mode != Off && answer == Silent
            then {
                if control != Remote then { answer := Refused(why: NotInControl) }
                else if going != mode then { answer := Busy }
                else if mode == Standby then { going := Measure  answer := Accepted }
                else { answer := Refused(why: WrongMode) }
            }
        ?start_integral(n: Rounds)
            if mode != Off && answer == Silent
            then {
                if control != Remote then { answer := Refused(why: NotInControl) }
                else if going != mode then { answer := Busy }
                else if mode != Standby then { answer := Refused(why: WrongMode) }
                else if n == 0 then { answer := Refused(why: BadValue) }
                else { going := Integral  rounds := n  answer := Accepted }
            }
        /// An integral measurement that is stopped has a result too.
        ?stop_integral()
            if mode != Off && answer == Silent
            then {
                if control != Remote then { answer := Refused(why: NotInControl) }
                else if mode == Integral && going == Integral && progress == Running
                then { progress := Passed  rounds := 0  answer := Accepted }
                else { answer := Refused(why: WrongMode) }
            }
        ?start_zero_check()
            if mode != Off && answer == Silent
            then {
                if control != Remote then { answer := Refused(why: NotInControl) }
                else if going != mode then { answer := Busy }
                else if mode == Standby then { going := ZeroCheck  answer := Accepted }
                else { answer := Refused(why: WrongMode) }
            }
        /// The response is checked at the default dilution only.
        ?start_response_check()
            if mode != Off && answer == Silent
            then {
                if control != Remote then { answer := Refused(why: NotInControl) }
                else if going != mode then { answer := Busy }
                else if mode != Standby then { answer := Refused(why: WrongMode) }
                else if dilution != DEFAULT_DILUTION then { answer := Refused(why: BadValue) }
                else { going := ResponseCheck  answer := Accepted }
            }
        /// Leaks are looked for from pause too, when the pump stands still.
        ?start_leak_test()
            if mode != Off && answer == Silent
            then {
                if control != Remote then { answer := Refused(why: NotInControl) }
                else if going != mode then { answer := Busy }
                else if mode == Standby || mode == Pause then { going := LeakTest  answer := Accepted }
                else { answer := Refused(why: WrongMode) }
            }
        ?start_purge()
            if mode != Off && answer == Silent
            then {
                if control != Remote then { answer := Refused(why: NotInControl) }
                else if going != mode then { answer := Busy }
                else if mode == Standby then { going := Purge  answer := Accepted }
                else { answer := Refused(why: WrongMode) }
            }
        /// Turns back on the way.
        ?abort()
            if mode != Off && answer == Silent
            then {
                if control != Remote then { answer := Refused(why: NotInControl) }
                else if going == mode then { answer := Refused(why: WrongMode) }
                else { going := mode  rounds := 0  answer := Accepted }
            }
        /// A failed device starts again.
        ?reset()
            if mode != Off && answer == Silent
            then {
                if control != Remote && mode != Failure then { answer := Refused(why: NotInControl) }
                else if going != mode then { answer := Busy }
                else if mode == Failure || mode == Pause then {
                    mode := WarmUp  going := WarmUp  errors := []
                    dilution := DEFAULT_DILUTION
                    answer := Accepted
                }
                else { answer := Refused(why: WrongMode) }
            }
        ?acknowledge_first()
            if mode != Off && answer == Silent
            then {
                if mode != Failure then { answer := Refused(why: WrongMode) }
                else if let [first, ..rest] = errors then { errors := rest  answer := Accepted }
                else { answer := NoValue }
            }
        ?acknowledge_all()
            if mode != Off && answer == Silent
            then {
                if mode != Failure then { answer := Refused(why: WrongMode) }
                else { errors := []  answer := Accepted }
            }
        ?enter_service(code: Code)
            if mode != Off && answer == Silent
            then {
                if control != Remote then { answer := Refused(why: NotInControl) }
                else if going != mode then { answer := Busy }
                else if mode != Pause then { answer := Refused(why: WrongMode) }
                else if code != SERVICE_CODE then { answer := Refused(why: WrongCode) }
                else { going := Service  answer := Accepted }
            }
        ?leave_service()
            if mode != Off && answer == Silent
            then {
                if mode != Service then { answer := Refused(why: WrongMode) }
                else { mode := Pause  going := Pause  unit := NoUnit  answer := Accepted }
            }

        // The remote line: settings --------------------------------------------------------------------------------

        ?set_dilution(ratio: AnyDilution)
            if mode != Off && answer == Silent
            then {
                if control != Remote then { answer := Refused(why: NotInControl) }
                else if mode != Pause && mode != Standby then { answer := Refused(why: WrongMode) }
                else if ratio < 1 || ratio > MAX_DILUTION then { answer := Refused(why: BadValue) }
                else { dilution := ratio  answer := Accepted }
            }
        /// The flow is fixed; who sets it to what it is does no harm.
        ?set_flow(rate: AnyFlow)
            if mode != Off && answer == Silent
            then {
                if control != Remote then { answer := Refused(why: NotInControl) }
                else if mode != Pause && mode != Standby then { answer := Refused(why: WrongMode) }
                else if rate != FLOW then { answer := Refused(why: BadValue) }
                else { answer := Accepted }
            }
        /// Both or none.
        ?set_both(ratio: AnyDilution, rate: AnyFlow)
            if mode != Off && answer == Silent
            then {
                let fits = 1 <= ratio <= MAX_DILUTION && rate == FLOW
                if control != Remote then { answer := Refused(why: NotInControl) }
                else if mode != Pause && mode != Standby then { answer := Refused(why: WrongMode) }
                else if !fits then { answer := Refused(why: BadValue) }
                else { dilution := ratio  answer := Accepted }
            }
        ?most_dilution()
            if mode != Off && answer == Silent
            then {
                if control != Remote then { answer := Refused(why: NotInControl) }
                else if mode != Pause && mode != Standby then { answer := Refused(why: WrongMode) }
                else { dilution := MAX_DILUTION  answer := Accepted }
            }
        ?default_dilution()
            if mode != Off && answer == Silent
            then {
                if control != Remote then { answer := Refused(why: NotInControl) }
                else if mode != Pause && mode != Standby then { answer := Refused(why: WrongMode) }
                else { dilution := DEFAULT_DILUTION  answer := Accepted }
            }
        ?default_flow()
            if mode != Off && answer == Silent
            then {
                if control != Remote then { answer := Refused(why: NotInControl) }
                else if mode != Pause && mode != Standby then { answer := Refused(why: WrongMode) }
                else { answer := Accepted }
            }
        /// Less would be no flow at all, more would tear the filter.
        ?raise_flow()
            if mode != Off && answer == Silent
            then { answer := Refused(why: if control == Remote then BadValue else NotInControl) }
        ?lower_flow()
            if mode != Off && answer == Silent
            then { answer := Refused(why: if control == Remote then BadValue else NotInControl) }
        ?load_defaults()
            if mode != Off && answer == Silent
            then {
                if control != Remote then { answer := Refused(why: NotInControl) }
                else if mode != Pause then { answer := Refused(why: WrongMode) }
                else { dilution := DEFAULT_DILUTION  answer := Accepted }
            }

        // The remote line: questions, which everybody may ask ------------------------------------------------------

        ?ask_status() if mode != Off && answer == Silent then { answer := TellStatus }
        ?ask_mode() if mode != Off && answer == Silent then { answer := TellMode }
        ?ask_control() if mode != Off && answer == Silent then { answer := TellControl }
        ?ask_progress() if mode != Off && answer == Silent then { answer := TellProgress }
        ?ask_ready()
            if mode != Off && answer == Silent
            then { answer := if mode == Standby && going == Standby then Yes else No }
        ?ask_errors() if mode != Off && answer == Silent then { answer := TellErrors }
        ?ask_error_count() if mode != Off && answer == Silent then { answer := TellErrorCount }
        ?ask_first_error()
            if mode != Off && answer == Silent
            then { answer := if errors.is_empty() then NoValue else TellErrors }
        ?has_error(fault: Fault)
            if mode != Off && answer == Silent
            then { answer := if errors.contains(fault) then Yes else No }
        ?ask_dilution() if mode != Off && answer == Silent then { answer := TellDilution }
        ?ask_flow() if mode != Off && answer == Silent then { answer := TellFlow }
        ?ask_settings() if mode != Off && answer == Silent then { answer := TellSettings }
        ?ask_dilution_range() if mode != Off && answer == Silent then { answer := TellDilutionRange }
        ?ask_flow_range() if mode != Off && answer == Silent then { answer := TellFlowRange }
        ?ask_identity() if mode != Off && answer == Silent then { answer := TellIdentity }
        ?ask_version() if mode != Off && answer == Silent then { answer := TellVersion }
        ?ask_pump() if mode != Off && answer == Silent then { answer := if pump_runs(mode) then Yes else No }
        ?ask_laser() if mode != Off && answer == Silent then { answer := if laser_is_on(mode) then Yes else No }
        /// It is kept warm in every mode but when it has failed.
        ?ask_heater() if mode != Off && answer == Silent then { answer := if mode == Failure then No else Yes }
        ?ask_concentration()
            if mode != Off && answer == Silent
            then { answer := if mode == Measure && going == Measure then TellConcentration else NoValue }
        ?ask_raw_count()
            if mode != Off && answer == Silent
            then {
                if mode == Measure || mode == ZeroCheck then { answer := TellRawCount }
                else { answer := NoValue }
            }
        ?ask_integral_result()
            if mode != Off && answer == Silent
            then {
                if mode != Integral then { answer := NoValue }
                else if progress == Running then { answer := Busy }
                else { answer := TellIntegral }
            }
        ?ask_rounds_left()
            if mode != Off && answer == Silent
            then { answer := if mode == Integral then TellRounds else NoValue }
        ?ask_zero_result()
            if mode != Off && answer == Silent
            then {
                if mode != ZeroCheck then { answer := NoValue }
                else { answer := if progress == Running then Busy else TellCheck }
            }
        ?ask_response_result()
            if mode != Off && answer == Silent
            then {
                if mode != ResponseCheck then { answer := NoValue }
                else { answer := if progress == Running then Busy else TellCheck }
            }
        ?ask_leak_result()
            if mode != Off && answer == Silent
            then {
                if mode != LeakTest then { answer := NoValue }
                else { answer := if progress == Running then Busy else TellCheck }
            }

        // Service --------------------------------------------------------------------------------------------------

        ?test_pump()
            if mode != Off && answer == Silent
            then {
                if mode != Service then { answer := Refused(why: WrongMode) }
                else if unit != NoUnit then { answer := Busy }
                else { unit := Pump  answer := Accepted }
            }
        ?test_laser()
            if mode != Off && answer == Silent
            then {
                if mode != Service then { answer := Refused(why: WrongMode) }
                else if unit != NoUnit then { answer := Busy }
                else { unit := Laser  answer := Accepted }
            }
        ?test_heater()
            if mode != Off && answer == Silent
            then {
                if mode != Service then { answer := Refused(why: WrongMode) }
                else if unit != NoUnit then { answer := Busy }
                else { unit := Heater  answer := Accepted }
            }
        ?test_valve()
            if mode != Off && answer == Silent
            then {
                if mode != Service then { answer := Refused(why: WrongMode) }
                else if unit != NoUnit then { answer := Busy }
                else { unit := Valve  answer := Accepted }
            }
        ?end_test()
            if mode != Off && answer == Silent
            then {
                if mode != Service || unit == NoUnit then { answer := Refused(why: WrongMode) }
                else { unit := NoUnit  answer := Accepted }
            }
        ?ask_tested_unit()
            if mode != Off && answer == Silent
            then { answer := if unit == NoUnit then NoValue else TellUnit }
        /// For training: the device behaves as if the unit had failed.
        ?simulate_fault(fault: Fault)
            if mode != Off && answer == Silent
            then {
                if mode != Service || unit != NoUnit then { answer := Refused(why: WrongMode) }
                else { mode := Failure  going := Failure  errors := [fault]  answer := Accepted }
            }

        // Answers --------------------------------------------------------------------------------------------------

        !accepted() if answer == Accepted then { answer := Silent }
        !busy() if answer == Busy then { answer := Silent }
        !refused(why: Reason) if let Refused(reason) = answer && why == reason then { answer := Silent }
        !is_so(yes: Bool)
            if (answer == Yes || answer == No) && yes == (answer == Yes)
               || answer == TellCheck && yes == (progress == Passed)
            then { answer := Silent }
        !no_value() if answer == NoValue then { answer := Silent }
        !status(m: Mode, moving: Bool, failed: Bool)
            if answer == TellStatus && m == mode && moving == (going != mode) && failed == (mode == Failure)
            then { answer := Silent }
        !mode_is(m: Mode) if answer == TellMode && m == mode then { answer := Silent }
        !control_is(who: Control) if answer == TellControl && who == control then { answer := Silent }
        !progress_is(p: Progress) if answer == TellProgress && p == progress then { answer := Silent }
        !errors_are(all: set<Fault>) if answer == TellErrors && all == errors.to_set() then { answer := Silent }
        !number_is(n: Number)
            if answer == TellErrorCount && n == errors.length() || answer == TellDilution && n == dilution
               || answer == TellFlow && n == FLOW || answer == TellRounds && n == rounds
               || answer == TellIdentity && n == IDENTITY || answer == TellVersion && n == 31
            then { answer := Silent }
        !settings_are(ratio: Dilution, rate: AnyFlow)
            if answer == TellSettings && ratio == dilution && rate == FLOW
            then { answer := Silent }
        !range_is(least: AnyDilution, most: AnyDilution)
            if answer == TellDilutionRange && least == 1 && most == MAX_DILUTION
               || answer == TellFlowRange && least == FLOW && most == FLOW
            then { answer := Silent }
        /// Whatever the gas is: no more than the counter counts, times the dilution. Clean air has hardly any particles.
        !count_is(n: 0..MAX_COUNT * MAX_DILUTION)
            if answer == TellConcentration && n <= MAX_COUNT * dilution
               || answer == TellRawCount && n <= (if mode == ZeroCheck then 10 else MAX_COUNT)
               || answer == TellIntegral && n <= MAX_COUNT
            then { answer := Silent }
        !unit_is(which: Unit) if answer == TellUnit && which == unit then { answer := Silent }

        // What happens of its own accord ---------------------------------------------------------------------------

        /// The end of the warm-up, or of a change of mode; a failed device whose errors are all acknowledged goes to pause.
        !arrived(m: Mode)
            if answer == Silent
               && (going != mode && m == going
                   || going == mode && (mode == WarmUp || mode == Failure && errors.is_empty()) && m == Pause
                   || going == mode && mode == Purge && m == Standby)
            then {
                mode := m  going := m
                progress := if has_result(m) then Running else Idle
            }
        /// The self-test finds a fault at the end of the warm-up; later, work needs the heater.
        !failed(fault: Fault)
            if answer == Silent && (mode == WarmUp && fault != HeaterFault
                                    || mode != WarmUp && going != mode && is_work(going) && fault == HeaterFault)
            then {
                mode := Failure  going := Failure  control := Manual
                progress := Idle  rounds := 0
                errors := [fault]
            }
        /// A check ends as it likes.
        !finished(p: Progress)
            if mode == going && answer == Silent && progress == Running && mode != Integral && (p == Passed || p == Missed)
            then { progress := p }
        /// A round of an integral measurement.
        !round_over(left: Rounds)
            if mode == Integral && going == Integral && progress == Running && rounds > 0 && answer == Silent
               && left == rounds - 1
            then {
                rounds := left
                then if left == 0 then { progress := Passed }
            }
    }
}
