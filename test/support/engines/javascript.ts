/**
 * JavaScriptCore without its last optimizing compiler, which costs processes of minutes more than
 * it saves (a tenth to a fifth of a suite, measured).
 */
export const forShortRuns: Readonly<Record<string, string>> = { BUN_JSC_useFTLJIT: 'false' }
