/**
 * Settings of the JavaScript engine for processes that run for minutes: without its last optimizing
 * compiler, which spends more than it saves in that time (a tenth to a fifth of a suite, measured).
 */
export const forShortRuns: Readonly<Record<string, string>> = { BUN_JSC_useFTLJIT: 'false' }
