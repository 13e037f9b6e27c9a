import { defineStore } from 'pinia'
import { ref } from 'vue'

import { ApiError } from '../api'

/** One line for people at a time: what was done, or what went wrong. */
export const useNotices = defineStore('notices', () => {
  const text = ref('')
  const hint = ref('')
  const isProblem = ref(false)
  const announced = ref('')

  function done(message: string): void {
    text.value = message
    hint.value = ''
    isProblem.value = false
  }

  function failed(error: unknown): void {
    // The page says by itself when there is no connection.
    if (error instanceof ApiError && (error.isSignedOut || error.status === 0)) return
    text.value = error instanceof Error ? error.message : String(error)
    hint.value = error instanceof ApiError ? error.hint : ''
    isProblem.value = true
  }

  /** For screen readers only. */
  function announce(message: string): void {
    announced.value = message
  }

  function clear(): void {
    text.value = ''
  }

  return { text, hint, isProblem, announced, done, failed, announce, clear }
})
