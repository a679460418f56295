/** Header of a signed request with the version of the terms that the user has accepted. */
export const acceptedTermsHeader = 'accepted-terms'
