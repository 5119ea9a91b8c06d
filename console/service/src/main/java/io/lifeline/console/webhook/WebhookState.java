package io.lifeline.console.webhook;

/**
 * What has become of a webhook's events and alerts: each one selected is delivered, queued, or dropped.
 *
 * @param state waiting, sending, or retrying after a failed attempt
 * @param failedAttempts requests without a success
 * @param droppedAfterRetries events and alerts of batches that were given up
 * @param droppedForRoom events and alerts that found the queue full, because the target takes too long
 * @param lastError of the newest failed attempt; null if there was none
 * @param lastErrorAt null if there was none
 * @param lastDeliveryAt null if there was none
 */
public record WebhookState(String state, long delivered, int queued, long failedAttempts, long droppedAfterRetries,
    long droppedForRoom, String lastError, String lastErrorAt, String lastDeliveryAt) {}
