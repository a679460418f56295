import { expect, test } from 'bun:test'
import { isSameName } from './names'

test.each([
  ['Sari Dewi', 'SARI DEWI'],
  ['Sari  Dewi', 'Dewi Sari'],
  ['Ñoño Dewí', 'nono dewi'],
  ["Nur'aini", 'Nuraini'],
  ['Al-Amin', 'AL AMIN'],
  ['Siti Nur Haliza', 'SITI NURHALIZA'],
  ['Bpk. Budi Santoso, S.H.', 'BUDI SANTOSO'],
  ['Bpk.Budi Santoso', 'BUDI SANTOSO'],
  ['Dr. Hj. Rina Marlina, S.E., M.M.', 'Rina Marlina'],
  ['H. Ahmad Fauzi', 'AHMAD FAUZI'],
  ["Dato' Tan Mei Ling", 'TAN MEI LING'],
  ['PT Sari Dewi (Persero)', 'PT. SARI DEWI PERSERO'],
  ['Ibu', 'IBU'],
  ['Tan Sri Azman Hashim', 'AZMAN HASHIM'],
  ['Puan Sri Azlina', 'AZLINA'],
  ['Tan Sri', 'TAN SRI'],
  ['Ibu Sri', 'SRI'],
  ['Prof. Tan', 'TAN'],
])('%p and %p can be one holder', (left, right) => {
  expect([isSameName(left, right), isSameName(right, left)]).toEqual([true, true])
})

test.each([
  ['Sari Dewi', 'SARI DEWA'],
  ['Sari', 'SARI DEWI'],
  ['Sari Dewi Lestari', 'SARI DEWI'],
  ['S Dewi', 'SARI DEWI'],
  ['Bapak', 'IBU'],
  ['Sri Mulyani', 'MULYANI'],
  ['Tan Mei Ling', 'MEI LING'],
  ['Ma Xiao Ming', 'XIAO MING'],
  ['Sari Dewi', 'BUDI SANTOSO'],
])('%p and %p are two holders', (left, right) => {
  expect([isSameName(left, right), isSameName(right, left)]).toEqual([false, false])
})

test.each(['', '  ', '---', 'S*** D***', 'SA•• DE••'])('a holder given as %p gives no verdict', (shown) => {
  expect(isSameName(shown, 'Sari Dewi')).toBeUndefined()
})
