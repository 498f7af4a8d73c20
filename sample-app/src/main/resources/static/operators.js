// The operators' views and actions, which only use the Actuator endpoints.

import { element, make, plainCell, push, request, row, rowHeader, whole } from './ledger.js'

const LOOK_MILLIS = 500
const REFRESH_MILLIS = 2000
const SINCE = 'PT24H'

const read = async path => (await request(`actuator/${path}`)).json()

async function change(path, body) {
  return (await request(`actuator/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body)
  })).json()
}

function outcomeOf(reconciliation) {
  if (!reconciliation) return '–'
  if (reconciliation.state === 'running') return `${Math.floor(reconciliation.share * 100)} %`
  if (reconciliation.state !== 'completed') return reconciliation.state
  const { missing, deadLettered } = reconciliation.fates
  const open = missing + deadLettered
  return `${whole.format(reconciliation.read)} read, ${missing === 0 ? 'none' : whole.format(missing)} missing`
    + (open > missing ? `, ${whole.format(deadLettered)} dead` : '')
}

async function rowOf(consumer, reconciliations) {
  const name = encodeURIComponent(consumer)
  const [page, inbox] = await Promise.all([
    read(`idempotencydeadletters?consumer=${name}&size=500`),
    read(`idempotencyinbox?consumer=${name}&status=failed&size=1000`)
  ])
  const letters = status => whole.format(page.deadLetters.filter(letter => letter.status === status).length)
  const found = row(`operated-${consumer}`,
    rowHeader(consumer, make('small', '', page.topics.join(', '))),
    plainCell('failed', whole.format(inbox.messages.length)),
    plainCell('pending', letters('pending')),
    plainCell('redriven', letters('redriven')),
    plainCell('exhausted', letters('exhausted')),
    plainCell('reconciled', outcomeOf(reconciliations.find(each => each.consumer === consumer))))
  return { found, running: page.redrive?.state === 'running' }
}

/** Shows the current state; returns whether a job is running. */
async function look() {
  const { consumers, reconciliations } = await read('idempotencyreconciliation')
  const rows = await Promise.all(consumers.map(consumer => rowOf(consumer, reconciliations)))
  element('operated').replaceChildren(...rows.map(each => each.found))
  return rows.some(each => each.running) || reconciliations.some(each => each.state === 'running')
}

async function watch() {
  while (await look()) {
    await new Promise(resolve => setTimeout(resolve, LOOK_MILLIS))
  }
}

async function ofAll(start) {
  const { consumers } = await read('idempotencyreconciliation')
  await Promise.all(consumers.map(start))
  await watch()
}

async function redrive() {
  await request('api/repairs', { method: 'POST' })
  await ofAll(consumer => change('idempotencydeadletters', { consumer, all: true }))
  return 'done.'
}

async function reconcile() {
  await ofAll(consumer => change('idempotencyreconciliation', { consumer, since: SINCE }))
  return 'done.'
}

async function keepLooking() {
  for (;;) {
    if (!document.hidden) {
      await look().catch(() => {})
    }
    await new Promise(resolve => setTimeout(resolve, REFRESH_MILLIS))
  }
}

element('redrive').addEventListener('click', event => push(event.currentTarget, redrive))
element('reconcile').addEventListener('click', event => push(event.currentTarget, reconcile))
keepLooking()
