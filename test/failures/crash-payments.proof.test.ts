import { diesEverywhere, endsWithClosedBooks } from '../crashes/suite'

endsWithClosedBooks(diesEverywhere('topup', 'settlement', 'refund', 'send', 'drip'))
