import type { Race } from '../race'
import { laneRaces } from './lanes'
import { opened } from './opened'
import { payingRaces } from './paying'
import { received } from './received'
import { takingRaces } from './taking'

export const races: readonly Race[] = [...received, ...opened, ...payingRaces, ...laneRaces, ...takingRaces]
