// Polls the state of the application twice a second and shows it. No framework, no build step.

const REFRESH_MILLIS = 500
const CHART_SECONDS = 120
const DELIVERIES_SHOWN = 100

export const element = id => document.getElementById(id)
const money = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
export const whole = new Intl.NumberFormat('en')
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })

let lastDelivery = 0
let longestBacklog = 0

// -- building blocks

export function make(tag, className, ...content) {
  const made = document.createElement(tag)
  made.className = className
  made.append(...content)
  return made
}

function cents(amount) {
  return Math.round(amount * 100)
}

/** Returns the verdict on an amount, compared with the expected one. */
function verdict(actual, expected, format) {
  const difference = cents(actual) - cents(expected)
  if (difference === 0) {
    return make('span', 'verdict good', 'right')
  }
  return difference > 0
    ? make('span', 'verdict bad', `${format.format(difference / 100)} too much`)
    : make('span', 'verdict', `${format.format(-difference / 100)} still missing`)
}

function amountCell(name, actual, expected, format = money) {
  const cell = make('td', 'number', make('span', 'value', format.format(actual)), verdict(actual, expected, format))
  cell.dataset.column = name
  return cell
}

export function plainCell(name, text) {
  const cell = make('td', 'number', text)
  cell.dataset.column = name
  return cell
}

export function rowHeader(...content) {
  const header = make('th', '', ...content)
  header.scope = 'row'
  return header
}

export function row(name, ...cells) {
  const made = make('tr', '', ...cells)
  made.dataset.row = name
  return made
}

// -- parts of the page

function showAccounts(accounts) {
  const accountRow = account => row(account.name,
    rowHeader(account.name),
    plainCell('paid-in', money.format(account.paidIn)),
    amountCell('with', account.protectedBalance, account.paidIn),
    amountCell('without', account.unprotectedBalance, account.paidIn))
  const sum = property => accounts.reduce((total, account) => total + cents(account[property]), 0) / 100
  element('accounts').replaceChildren(...accounts.map(accountRow))
  element('total').replaceChildren(accountRow({
    name: 'Total',
    paidIn: sum('paidIn'),
    protectedBalance: sum('protectedBalance'),
    unprotectedBalance: sum('unprotectedBalance')
  }))
}

function showConsumers(results, consumers) {
  element('consumers').replaceChildren(...results.map(result => {
    const counts = consumers.find(candidate => candidate.consumer === result.consumer)
    return row(counts.consumer,
      rowHeader(counts.consumer, make('small', '', counts.listener)),
      amountCell('result', result.actual, result.expected, counts.consumer === 'points' ? whole : money),
      plainCell('processed', whole.format(counts.processed)),
      plainCell('redeliveries', whole.format(counts.redeliveries)),
      plainCell('republications', whole.format(counts.republications)),
      plainCell('failed', whole.format(counts.failed)))
  }))
}

function showBacklog(waiting) {
  longestBacklog = waiting === 0 ? 0 : Math.max(longestBacklog, waiting)
  element('backlog').hidden = waiting === 0
  element('backlog').dataset.waiting = waiting
  element('waiting').textContent = `${whole.format(waiting)} records to go`
  element('progress').max = Math.max(longestBacklog, 1)
  element('progress').value = longestBacklog - waiting
}

function showHits(hits, now) {
  const chart = element('chart')
  const { width, height } = chart.viewBox.baseVal
  const barWidth = width / CHART_SECONDS
  const peak = Math.max(1, ...hits.map(hit => hit.redeliveries + hit.republications))
  const length = count => count === 0 ? 0 : Math.max(2, count / peak * height)
  const bar = (kind, second, from, count) => {
    const rect = document.createElementNS('http://www.w3.org/2000/svg', 'rect')
    rect.setAttribute('class', kind)
    rect.setAttribute('x', (CHART_SECONDS - 1 - (now - second)) * barWidth)
    rect.setAttribute('width', barWidth * 0.9)
    rect.setAttribute('y', height - length(from) - length(count))
    rect.setAttribute('height', length(count))
    return rect
  }
  chart.replaceChildren(...hits.flatMap(hit => [
    bar('redelivery', hit.second, 0, hit.redeliveries),
    bar('republication', hit.second, hit.redeliveries, hit.republications)
  ]))
  const redeliveries = hits.reduce((total, hit) => total + hit.redeliveries, 0)
  const republications = hits.reduce((total, hit) => total + hit.republications, 0)
  chart.setAttribute('aria-label', hits.length === 0
    ? 'No duplicates in the last two minutes'
    : `${redeliveries} redeliveries and ${republications} republications in the last two minutes`)
  element('peak').textContent = hits.length === 0 ? '' : `at most ${whole.format(peak)} a second`
}

function age(millis) {
  if (millis < 1000) return `${millis} ms`
  if (millis < 60_000) return `${(millis / 1000).toFixed(1)} s`
  return `${Math.round(millis / 60_000)} min`
}

function describe(delivery) {
  const id = delivery.messageId?.split('-')[0]
  switch (delivery.outcome) {
    case 'PROCESSED':
      return id
    case 'DUPLICATE':
      return `${id}, a ${delivery.kind.toLowerCase()}`
        + (delivery.ageMillis === null ? '' : `, processed ${age(delivery.ageMillis)} ago`)
    case 'DEAD_LETTERED':
      return 'given up and published to the dead-letter topic'
    default:
      return 'rolled back, to be redelivered'
  }
}

function showDeliveries(deliveries) {
  const list = element('deliveries')
  for (const delivery of deliveries) {
    const outcome = delivery.outcome.toLowerCase().replace('_', '-')
    const item = make('li', `${outcome} ${(delivery.kind ?? '').toLowerCase()}`.trim(),
      make('time', '', clock.format(new Date(delivery.time))),
      make('span', 'consumer', delivery.consumer),
      make('span', 'outcome', outcome),
      make('span', 'what', describe(delivery)),
      make('span', 'where', delivery.coordinates ?? ''))
    item.title = delivery.messageId ?? ''
    list.prepend(item)
    lastDelivery = delivery.number
  }
  while (list.childElementCount > DELIVERIES_SHOWN) {
    list.lastElementChild.remove()
  }
  element('nothing-yet').hidden = list.childElementCount > 0
}

function notice(text, bad = false) {
  element('notice').textContent = text
  element('notice').classList.toggle('bad', bad)
}

// -- the application

export async function request(url, options) {
  const response = await fetch(url, options)
  if (!response.ok) {
    const problem = await response.json().catch(() => ({}))
    throw new Error(problem.detail ?? `The application answered ${response.status}.`)
  }
  return response
}

async function refresh() {
  const state = await (await request(`api/ledger?after=${lastDelivery}`)).json()
  showBacklog(state.backlog)
  showAccounts(state.accounts)
  showConsumers(state.results, state.consumers)
  showHits(state.hits, state.now)
  showDeliveries(state.deliveries)
}

/** Sends an order twice, at the same time and with the same key, and shows the outcome. */
async function orderTwice() {
  const key = Array.from(crypto.getRandomValues(new Uint32Array(4)), part => part.toString(16)).join('-')
  const order = {
    method: 'POST',
    headers: { 'Idempotency-Key': key, 'Content-Type': 'application/json' },
    body: JSON.stringify({ account: 'Alice', amount: 10 })
  }
  const send = async () => (await request('api/payments', order)).json()
  const [one, other] = await Promise.all([send(), send()])
  if (one.number !== other.number) {
    throw new Error(`booked twice, as ${one.number} and ${other.number}.`)
  }
  return `booked once. Both were answered with booking ${one.number}.`
}

async function post(button) {
  await request(button.dataset.post, { method: 'POST' })
  return 'done. Watch what becomes of it.'
}

export async function push(button, action) {
  if (button.ariaDisabled === 'true') {
    return
  }
  const title = button.querySelector('strong').textContent
  button.ariaDisabled = 'true'
  notice(`${title} …`)
  try {
    notice(`${title}: ${await action(button)}`)
  } catch (error) {
    notice(`${title}: ${error.message}`, true)
  } finally {
    button.ariaDisabled = 'false'
  }
}

async function keepRefreshing() {
  let lost = false
  for (;;) {
    if (!document.hidden) {
      try {
        await refresh()
        if (lost) notice('The application is back.')
        lost = false
      } catch {
        lost = true
        notice('The application does not answer. Is it running?', true)
      }
    }
    await new Promise(resolve => setTimeout(resolve, REFRESH_MILLIS))
  }
}

document.querySelectorAll('button[data-post]').forEach(button => button.addEventListener('click', () => push(button, post)))
element('request-twice').addEventListener('click', event => push(event.currentTarget, orderTwice))
keepRefreshing()
