/** A public record as the document shows it: one qualified cycle. */
export const exampleRecord = {
  account: '0x9B2EF1c1a7F0e3D2C4b5A6978877665544332211',
  verified: true,
  score: '520',
  ratioBps: '8200',
  cycles: 1,
  defaulted: false,
  history: {
    score: '520',
    cycleCount: 1,
    repayCount: 1,
    cyclesOpened: 1,
    defaulted: false,
    verifiedAt: '1795244400',
    firstSeenAt: '1795244400',
    cycles: [
      {
        number: 1,
        outcome: 'Qualified',
        openedAt: '1795244500',
        closedAt: '1795244700',
        peakDrawn: '1000000',
        totalRepaid: '1000000',
        scoreAfter: '520',
        openTxHash: `0x${'a1'.repeat(32)}`,
        closeTxHash: `0x${'b2'.repeat(32)}`,
      },
    ],
  },
  indexer: 'ok',
}
