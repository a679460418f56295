ALTER TABLE "payments"."payments" ADD COLUMN "late_rate_minor_per_usd" numeric(78,0);--> statement-breakpoint
ALTER TABLE "payments"."payments" ADD COLUMN "promised_micro" numeric(78,0);