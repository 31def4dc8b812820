/// A tank with a bell that rings when it is filled, unless it is emptied in time; what is poured in may splash.
def Meter {
    types { Level = [0..2] }
    state { alarm: Level? }
    init { alarm := none }
    actions {
        ?fill(to: Level)
            if True
            then {
                var level := to
                { } [] splash: when level == 1 { level := 2 }
                if level > 0 then { alarm := some(level) }
                else { alarm := none }
            }
        !ring(at: Level) if let some(level) = alarm && at == level then { alarm := none }
    }
}
