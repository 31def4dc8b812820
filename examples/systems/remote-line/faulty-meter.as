/// The tank, with a bell that rings when it is emptied too.
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
                else { alarm := some(0) }
            }
        !ring(at: Level) if let some(level) = alarm && at == level then { alarm := none }
    }
}
