/** How long after its event an answer can be read: a row in SQL, a summary, an alert. */
package io.lifeline.jobs.bench.answer;
