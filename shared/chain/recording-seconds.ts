/**
 * Time after a payment in which the contract records it with its own time, in seconds (`RECORDING_MAX` of `Cycles.sol`). So an
 * account may be defaulted this long after the `defaultsAt` of `accountOf`.
 */
export const recordingSeconds = 7 * 86_400
