/** The events of a run as what its page shows; each event is added once, in order. */

import type { Question, RunEvent } from './types'

export interface ToolResult {
  content: string
  error: boolean
  duration_s: number
  cut_chars: number
  replayed: boolean
  refused: string[]
  changes: { path: string; diff: string }[]
}

export type Row = { key: string; ts: number } & (
  | { kind: 'iteration'; number: number }
  | { kind: 'step'; node: string }
  | {
      kind: 'model'
      text: string
      model: string
      tokens: number
      cost: number | null
      duration: number
    }
  | {
      kind: 'call'
      id: string
      tool: string
      args: Record<string, unknown>
      summary: string
      result: ToolResult | null
    }
  | ({ kind: 'check' } & Check)
  | { kind: 'question'; question: Question; decision: string; text: string }
  | { kind: 'note'; level: string; text: string }
  | { kind: 'progress'; name: string; data: unknown }
  | { kind: 'end'; status: string; reason: string }
)

/** Tokens and US dollars so far; null where the cost of a call is not known. */
export interface Usage {
  tokens: number
  cost: number | null
}

export interface Check {
  phase: string
  achieved: boolean
  reason: string
  details: string
  /** The cases that fail, by name. */
  failing: string[]
  counts: Record<string, number>
  duration: number
  remembered: boolean
}

export type CallRow = Extract<Row, { kind: 'call' }>

/** The goal loop's nodes, which a heading for each iteration stands for. */
const LOOP_STEPS = new Set(['plan', 'act', 'evaluate', 'human_check'])

export class Timeline {
  rows: Row[] = []
  lastSeq = 0
  iterations = 0
  node = ''
  /** A new set for each new node, so that what shows it notices. */
  visited = new Set<string>()
  /** Cases that passed and failed, by iteration; 0 is the start. */
  cases: { iteration: number; passed: number; failed: number }[] = []
  /** Tokens and cost so far, by model call. */
  usage: Usage[] = []
  check: Check | null = null
  changed = new Set<string>()
  /** Grows when files may have changed. */
  changes = 0
  private iteration = -1
  private readonly calls = new Map<string, number>()
  private readonly questions = new Map<string, number>()

  add(event: RunEvent): void {
    if (event.seq <= this.lastSeq) return
    this.lastSeq = event.seq
    const payload = event.payload as never
    HANDLERS[event.kind]?.call(this, event, payload)
  }

  push(event: RunEvent, row: Record<string, unknown> & { kind: Row['kind'] }): number {
    return this.rows.push({ key: String(event.seq), ts: event.ts, ...row } as Row) - 1
  }

  step(event: RunEvent, node: string, iteration: number): void {
    this.node = node
    if (!this.visited.has(node)) this.visited = new Set([...this.visited, node])
    if (!LOOP_STEPS.has(node)) {
      this.push(event, { kind: 'step', node })
    } else if (iteration > this.iteration) {
      this.iteration = iteration
      this.push(event, { kind: 'iteration', number: iteration + 1 })
    }
  }

  call(event: RunEvent, call: Omit<CallRow, 'key' | 'ts' | 'kind' | 'result'>): void {
    this.calls.set(call.id, this.push(event, { kind: 'call', ...call, result: null }))
  }

  result(event: RunEvent, id: string, tool: string, result: ToolResult): void {
    const index = this.calls.get(id)
    const row = index === undefined ? undefined : this.rows[index]
    if (index !== undefined && row?.kind === 'call') this.rows[index] = { ...row, result }
    else this.push(event, { kind: 'call', id, tool, args: {}, summary: '', result })
    for (const change of result.changes) this.changed.add(change.path)
    this.changes++
  }

  usageOf(tokens: number, cost: number | null): void {
    const last = this.usage.at(-1) ?? { tokens: 0, cost: 0 }
    const isKnown = last.cost !== null && cost !== null
    this.usage.push({
      tokens: last.tokens + tokens,
      cost: isKnown ? (last.cost ?? 0) + (cost ?? 0) : null,
    })
  }

  checked(event: RunEvent, check: Check): void {
    this.check = check
    this.changes++
    this.push(event, { kind: 'check', ...check })
    const counts = Object.entries(check.counts)
    if (!counts.length || check.phase === 'final') return
    const sum = (wanted: (outcome: string) => boolean) =>
      counts.reduce((total, [outcome, number]) => total + (wanted(outcome) ? number : 0), 0)
    const failed = sum((outcome) => !NOT_FAILED.has(outcome))
    const iteration = check.phase === 'baseline' ? 0 : event.iteration + 1
    if (this.cases.at(-1)?.iteration === iteration) this.cases.pop()
    this.cases.push({ iteration, passed: sum((o) => o === 'passed'), failed })
  }

  ask(event: RunEvent, question: Question): void {
    const row = { kind: 'question' as const, question, decision: '', text: '' }
    this.questions.set(question.id, this.push(event, row))
  }

  answered(id: string, decision: string, text: string): void {
    const index = this.questions.get(id)
    const row = index === undefined ? undefined : this.rows[index]
    if (index !== undefined && row?.kind === 'question')
      this.rows[index] = { ...row, decision, text }
  }
}

const NOT_FAILED = new Set(['passed', 'skipped', 'xfailed', 'xpassed'])

type Handler = (this: Timeline, event: RunEvent, payload: never) => void

function handler<P>(handle: (timeline: Timeline, event: RunEvent, payload: P) => void): Handler {
  return function (event, payload) {
    handle(this, event, payload)
  }
}

const HANDLERS: Record<string, Handler> = {
  step_start: handler<{ node: string; iteration: number }>((timeline, event, { node, iteration }) =>
    timeline.step(event, node, iteration ?? event.iteration),
  ),
  llm_usage: handler<{
    model: string
    text: string
    total_tokens: number
    cost_usd: number | null
    duration_s: number
    beside?: boolean
  }>((timeline, event, used) => {
    timeline.usageOf(used.total_tokens, used.cost_usd)
    if (used.beside || !used.text) return
    timeline.push(event, {
      kind: 'model',
      text: used.text,
      model: used.model,
      tokens: used.total_tokens,
      cost: used.cost_usd,
      duration: used.duration_s,
    })
  }),
  tool_call: handler<Omit<CallRow, 'key' | 'ts' | 'kind' | 'result'>>((timeline, event, call) =>
    timeline.call(event, call),
  ),
  tool_result: handler<ToolResult & { id: string; tool: string }>((timeline, event, result) =>
    timeline.result(event, result.id, result.tool, {
      ...result,
      refused: result.refused ?? [],
      changes: result.changes ?? [],
    }),
  ),
  goal_check: handler<Omit<Check, 'duration'> & { duration_s: number }>((timeline, event, check) =>
    timeline.checked(event, {
      ...check,
      counts: check.counts ?? {},
      details: check.details ?? '',
      failing: check.failing ?? [],
      duration: check.duration_s ?? 0,
    }),
  ),
  human_check_required: handler<{ question: Question }>((timeline, event, { question }) =>
    timeline.ask(event, question),
  ),
  human_check_response: handler<{ question_id: string; decision: string; text?: string }>(
    (timeline, _, answer) =>
      timeline.answered(answer.question_id, answer.decision, answer.text ?? ''),
  ),
  iteration_complete: handler<{ iteration: number }>((timeline, _, { iteration }) => {
    timeline.iterations = iteration
  }),
  progress: handler<{ name: string; data: unknown }>((timeline, event, { name, data }) => {
    timeline.push(event, { kind: 'progress', name, data })
  }),
  log: handler<{ level: string; message: string }>((timeline, event, { level, message }) => {
    timeline.push(event, { kind: 'note', level, text: message })
  }),
  error: handler<{ error: string; where?: string }>((timeline, event, { error, where }) => {
    timeline.push(event, {
      kind: 'note',
      level: 'error',
      text: where ? `${where}: ${error}` : error,
    })
  }),
  run_end: handler<{ status: string; reason: string }>((timeline, event, { status, reason }) => {
    timeline.node = '__end__'
    timeline.changes++
    timeline.push(event, { kind: 'end', status, reason })
  }),
}
