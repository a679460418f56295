ALTER TABLE "gateway"."auto_repayments" ADD COLUMN "ausd_micro" numeric(78,0);--> statement-breakpoint
ALTER TABLE "gateway"."auto_repayments" ADD COLUMN "source" text;