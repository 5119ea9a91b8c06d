/** Batches as Connect data: {@link io.lifeline.connect.batch.BatchConverter} and the schema that it gives. */
package io.lifeline.connect.batch;
