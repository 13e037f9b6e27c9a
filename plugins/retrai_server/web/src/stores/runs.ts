import { defineStore } from 'pinia'
import { computed, ref, shallowReactive } from 'vue'

import { getPage, query } from '../api'
import { notify } from '../notify'
import { LiveSocket, type Connection } from '../socket'
import type { RunSummary } from '../types'

export interface RunFilter {
  status: string
  goal: string
  project: string
  text: string
}

/** The runs that the server shows, kept current by its status changes. */
export const useRuns = defineStore('runs', () => {
  const byId = shallowReactive(new Map<string, RunSummary>())
  const listed = shallowReactive(new Set<string>())
  const filter = ref<RunFilter>({ status: '', goal: '', project: '', text: '' })
  const next = ref<string | null>(null)
  const isLoaded = ref(false)
  /** There is no run at all, whatever the filter. */
  const isEmpty = ref(false)
  const connection = ref<Connection>('connecting')
  /** The iteration that each waiting run was last notified for; a page puts its run, too. */
  const notified = new Map<string, number>()
  let wasLive = false
  let asked = 0

  const list = computed(() =>
    [...listed]
      .map((id) => byId.get(id))
      .filter((run): run is RunSummary => run !== undefined && matches(run, filter.value))
      .sort((a, b) => b.created_at.localeCompare(a.created_at)),
  )
  const waiting = computed(
    () => [...byId.values()].filter((run) => run.status === 'waiting').length,
  )

  function put(run: RunSummary): void {
    byId.set(run.run_id, run)
  }

  async function load(): Promise<void> {
    const number = ++asked
    const page = await getPage<RunSummary>(`/api/runs${query({ ...filter.value, limit: 50 })}`)
    if (number !== asked) return
    isEmpty.value = !page.items.length && !Object.values(filter.value).some(Boolean)
    listed.clear()
    show(page)
  }

  async function loadMore(): Promise<void> {
    const number = asked
    const page = next.value ? await getPage<RunSummary>(next.value) : null
    if (page && number === asked) show(page)
  }

  function show(page: { items: RunSummary[]; next: string | null }): void {
    for (const run of page.items) {
      put(run)
      listed.add(run.run_id)
    }
    next.value = page.next
    isLoaded.value = true
  }

  function follow(): void {
    new LiveSocket(
      () => '/api/ws',
      (text) => {
        const run = JSON.parse(text) as RunSummary
        put(run)
        if (run.status !== 'waiting') notified.delete(run.run_id)
        else if (notified.get(run.run_id) !== run.iteration) {
          notified.set(run.run_id, run.iteration)
          notify(run)
        }
        isEmpty.value = false
        if (isLoaded.value) listed.add(run.run_id)
      },
      (state) => {
        connection.value = state
        if (state !== 'live') return
        // What has changed while there was no connection was not sent.
        if (wasLive && isLoaded.value) void load().catch(() => undefined)
        wasLive = true
      },
    )
  }

  return {
    byId,
    list,
    filter,
    next,
    isLoaded,
    isEmpty,
    connection,
    waiting,
    put,
    load,
    loadMore,
    follow,
  }
})

function matches(run: RunSummary, filter: RunFilter): boolean {
  const words = [run.run_id, run.goal, run.model_name, run.cwd, run.task, run.reason]
  const text = filter.text.toLowerCase()
  return (
    (!filter.status || run.status === filter.status) &&
    (!filter.goal || run.goal === filter.goal) &&
    (!filter.project || run.project === filter.project) &&
    (!text || words.some((word) => word?.toLowerCase().includes(text)))
  )
}
