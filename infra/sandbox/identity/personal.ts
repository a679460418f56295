/**
 * What a real provider knows of a person and puts into its answers: none of it may be kept by those
 * who ask. The values are words that appear nowhere else, so that a suite can search for them.
 */
export const personal = {
  firstName: 'Ratnasandboxa',
  lastName: 'Wirasandboxa',
  birthdate: '1991-04-17T00:00:00-sandboxa',
  documentNumber: '3174sandboxa0001',
} as const
