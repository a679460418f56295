import { randomLives } from './random-lives.suite'

randomLives('some')
