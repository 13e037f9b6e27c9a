import { defineStore, getActivePinia } from 'pinia'
import { computed, ref, shallowRef, triggerRef, watch } from 'vue'

import { ApiError, get, send } from '../api'
import { goesOn } from '../format'
import { LiveSocket, type Connection } from '../socket'
import { Timeline } from '../timeline'
import type { Delta, Question, RunEvent, WholeRun } from '../types'
import { useRuns } from './runs'

/** After these events the record or the questions may be others. */
const CHANGES_RECORD = new Set([
  'goal_check',
  'human_check_required',
  'human_check_response',
  'iteration_complete',
  'run_end',
])
/** After these nothing more comes of a text that was streamed. */
const ENDS_TEXT = new Set(['llm_usage', 'error', 'run_end'])
const BATCH_MS = 40

/** The store of one run: its record, its questions, and its events as they come. */
export function useRun(id: string) {
  return defineStore(`run/${id}`, () => setup(id))()
}

function setup(id: string) {
  const runs = useRuns()
  const run = shallowRef<WholeRun | null>(null)
  const problem = ref<ApiError | null>(null)
  const questions = shallowRef<Question[]>([])
  const timeline = shallowRef(new Timeline())
  const liveText = ref('')
  let liveMessage = ''
  const connection = ref<Connection>('connecting')
  const status = computed(() => run.value?.status ?? '')
  const isGoingOn = computed(() => goesOn(status.value))
  let socket: LiveSocket | null = null
  let users = 0
  let waiting: RunEvent[] = []
  let timer: number | undefined
  let refreshing: Promise<void> | null = null
  let isStale = false
  let stopWatching = () => {}

  function open(): void {
    if (users++) return
    connect()
    void refresh()
    stopWatching = watch(
      () => runs.byId.get(id)?.status,
      (now) => {
        if (!now || now === status.value) return
        void refresh()
        if (goesOn(now) && connection.value === 'ended') connect()
      },
    )
  }

  function close(): void {
    if (--users) return
    stopWatching()
    socket?.close()
    socket = null
    window.clearTimeout(timer)
    const pinia = getActivePinia()
    useRun(id).$dispose()
    if (pinia) delete pinia.state.value[`run/${id}`]
  }

  function connect(): void {
    socket?.close()
    let wasLive = false
    socket = new LiveSocket(
      () => `/api/ws/${id}?deltas=1&after=${lastSeq()}`,
      (text) => receive(JSON.parse(text) as RunEvent | Delta),
      (state) => {
        connection.value = state
        if (state === 'ended' || (state === 'live' && wasLive)) void refresh()
        wasLive ||= state === 'live'
      },
    )
  }

  function lastSeq(): number {
    return waiting.at(-1)?.seq ?? timeline.value.lastSeq
  }

  function receive(message: RunEvent | Delta): void {
    if (message.kind === 'delta') {
      const { message_id, text } = (message as Delta).payload
      liveText.value = (message_id === liveMessage ? liveText.value : '') + text
      liveMessage = message_id
      return
    }
    waiting.push(message as RunEvent)
    timer ??= window.setTimeout(flush, BATCH_MS)
  }

  function flush(): void {
    timer = undefined
    const events = waiting
    waiting = []
    for (const event of events) timeline.value.add(event)
    if (events.some((event) => ENDS_TEXT.has(event.kind))) liveText.value = ''
    triggerRef(timeline)
    if (events.some((event) => CHANGES_RECORD.has(event.kind))) void refresh()
  }

  /** Read the record and the questions again; calls meanwhile lead to one more reading. */
  async function refresh(): Promise<void> {
    isStale = true
    refreshing ??= (async () => {
      while (isStale) {
        isStale = false
        await read()
      }
    })().finally(() => (refreshing = null))
    await refreshing
  }

  async function read(): Promise<void> {
    try {
      const [whole, asked] = await Promise.all([
        get<WholeRun>(`/api/runs/${id}`),
        get<Question[]>(`/api/runs/${id}/questions`),
      ])
      run.value = whole
      questions.value = asked
      problem.value = null
      runs.put(whole)
      if (goesOn(whole.status) && connection.value === 'ended') connect()
    } catch (error) {
      if (!(error instanceof ApiError) || error.status < 404) return
      problem.value = error
      if (error.status === 404 || error.name === 'NotBegun') socket?.close()
    }
  }

  async function act<T>(method: string, path: string, body?: unknown): Promise<T> {
    try {
      return await send<T>(method, `/api/runs/${id}${path}`, body)
    } finally {
      void refresh()
    }
  }

  return {
    run,
    problem,
    questions,
    timeline,
    liveText,
    connection,
    status,
    isGoingOn,
    open,
    close,
    refresh,
    answer: (question: string, choice: string, text: string) =>
      act('POST', `/questions/${encodeURIComponent(question)}`, { choice, text }),
    abort: () => act('POST', '/abort'),
    configure: (limits: object) => act('PATCH', '/config', limits),
    resume: async (limits: object) => {
      await act('POST', '/resume', limits)
      // A short run has ended again before its record is read.
      if (connection.value === 'ended') connect()
    },
    undo: <T>(isDry: boolean) => act<T>('POST', '/undo', { dry_run: isDry }),
  }
}

export type RunStore = ReturnType<typeof useRun>
